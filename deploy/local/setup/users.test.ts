import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { usersOf } from './users.mjs';

test('a process that runs from the packages is found until it ends, and no set-up', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'users-'));
  const binary = path.join(folder, 'node');
  copyFileSync(process.execPath, binary);
  const run = async (...args: string[]) => {
    const child = spawn(binary, ['--eval', 'console.log(1); process.stdin.resume()', ...args]);
    await once(child.stdout, 'data');
    return child;
  };
  const service = await run('services/quote/main.js');
  const setUp = await run('tools/run.mjs');
  try {
    expect(usersOf(binary)).toEqual([service.pid]);
    service.kill();
    await once(service, 'exit');
    expect(usersOf(binary)).toEqual([]);
    expect(usersOf(path.join(folder, 'absent'))).toEqual([]);
  } finally {
    for (const child of [service, setUp]) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
