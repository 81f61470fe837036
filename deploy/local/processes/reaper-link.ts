import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import type { ProcessSpec } from './process-spec.ts';

/** The supervisor's connection to its reaper (reaper.mjs), which starts again if it is killed. */
export const startReaper = (
  stackFile: string,
  children: () => readonly { pid: number; spec: ProcessSpec }[],
) => {
  let stopping = false;

  const send = (change: string, { stopSignal = 'SIGTERM' }: ProcessSpec): void => {
    reaper.stdin?.write(`${change} ${stopSignal}\n`);
  };
  const start = (): ChildProcess => {
    const child = spawn(process.execPath, [path.join(import.meta.dirname, 'reaper.mjs'), stackFile], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin?.on('error', () => {});
    child.on('exit', () => {
      if (stopping) return;
      reaper = start();
      for (const { pid, spec } of children()) send(`+${pid}`, spec);
    });
    child.unref();
    return child;
  };
  let reaper = start();

  return {
    /** The child runs. The reaper stops it if the supervisor is killed. */
    add: (pid: number, spec: ProcessSpec): void => send(`+${pid}`, spec),
    /** The child has ended. */
    remove: (pid: number, spec: ProcessSpec): void => send(`-${pid}`, spec),
    /** From now on the end of the reaper is expected. */
    expectEnd: (): void => {
      stopping = true;
    },
    stop: async (): Promise<void> => {
      stopping = true;
      const gone = new Promise((resolve) => reaper.once('exit', resolve));
      reaper.ref();
      reaper.stdin?.end();
      if (reaper.exitCode === null && reaper.signalCode === null) await gone;
    },
  };
};
