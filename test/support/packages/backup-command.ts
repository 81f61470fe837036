import { spawn } from 'node:child_process';
import path from 'node:path';
import { inherited } from '../base/inherited.ts';

const COMMAND = path.resolve(import.meta.dirname, '../../../tools/backup.ts');

/** Runs `npm run ops -- backup …`. */
export const runBackup = (args: string[], env: Record<string, string>) =>
  new Promise<{ code: number | null; out: string }>((resolve, reject) => {
    const child = spawn(process.execPath, [COMMAND, ...args], {
      env: { ...inherited, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        out += chunk.toString();
      });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out }));
  });
