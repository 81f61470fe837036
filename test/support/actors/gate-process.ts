import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inherited } from '../base/inherited.ts';

/** `quittance-gate` as a process, with a settings file of its own. */
export type GateProcess = {
  /** The lines of its log so far. */
  lines: () => Record<string, unknown>[];
  output: () => string;
  /** Resolves when it has ended. */
  stop: (signal?: NodeJS.Signals) => Promise<void>;
};

/**
 * Starts a gate, and waits until it serves.
 * @param command the program with its arguments, before the name of the settings file
 * @param settings of gate.yaml
 * @param secrets the environment
 */
export const startGateProcess = async (
  command: readonly string[],
  settings: object,
  secrets: Record<string, string>,
): Promise<GateProcess> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'quittance-gate-'));
  const file = path.join(folder, 'gate.yaml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(settings, null, 2));
  const child = spawn(process.execPath, [...command, file], {
    env: { ...inherited, ...secrets },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    child.kill(signal);
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const isServing = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += String(chunk);
        if (output.includes('"the gate serves"')) resolve();
      });
  });
  await Promise.race([isServing, ended]);
  if (child.exitCode !== null || child.signalCode !== null) {
    await stop();
    throw new Error(`the gate did not start: ${output}`);
  }
  return {
    lines: () =>
      output
        .split('\n')
        .slice(0, -1)
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    output: () => output,
    stop,
  };
};
