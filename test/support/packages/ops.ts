import { spawn } from 'node:child_process';
import path from 'node:path';
import { inherited } from '../base/inherited.ts';

const root = path.resolve(import.meta.dirname, '../../..');

export type Ops = { code: number | null; out: string; err: string };

/** Runs `npm run ops -- …` against a stack, without a terminal that could confirm a question. */
export const opsAt =
  (stackFile: string, env: Record<string, string> = {}) =>
  (...words: string[]): Promise<Ops> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [path.join(root, 'tools/ops.ts'), ...words], {
        env: { ...inherited, STACK_FILE: stackFile, ...env },
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
