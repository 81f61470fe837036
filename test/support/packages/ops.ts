import { spawn } from 'node:child_process';
import path from 'node:path';
import { find } from '../../../tools/doors.mjs';
import { inherited } from '../base/inherited.ts';

const root = path.resolve(import.meta.dirname, '../../..');

export type Ops = { code: number | null; out: string; err: string };

const runProgram = (program: string, args: readonly string[], env: Record<string, string>): Promise<Ops> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path.join(root, program), ...args], {
      env: { ...inherited, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });

/**
 * Runs an operators' command against a stack, without a terminal that could confirm a question. It
 * is one that asks the services.
 */
export const opsAt =
  (stackFile: string, env: Record<string, string> = {}) =>
  (...words: string[]): Promise<Ops> =>
    runProgram('tools/ops.ts', words, { STACK_FILE: stackFile, ...env });

/** Runs `npm run <door> -- …` against a stack, whichever program that is. */
export const doorAt =
  (door: string, stackFile: string) =>
  (...words: string[]): Promise<Ops> => {
    const { run } = find([door, ...words]) as { run: { program: string; args: string[] } };
    // Programs of their own have an option for the file.
    const file = run.program === 'tools/ops.ts' ? [] : ['--stack', stackFile];
    return runProgram(run.program, [...run.args, ...file], { STACK_FILE: stackFile });
  };
