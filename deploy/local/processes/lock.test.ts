import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { StackRunningError, takeLock } from './lock.ts';
import { identify, waitUntilGone } from './process-identity.ts';

let folder = '';
let children: ChildProcess[] = [];
const lockFile = () => path.join(folder, 'lock.json');

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'lock-'));
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  rmSync(folder, { recursive: true, force: true });
});

function bystander() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    detached: true,
    stdio: 'ignore',
  });
  children.push(child);
  return identify(child.pid!)!;
}

test('a second start is refused while the first one runs, and succeeds after it has ended', async () => {
  const first = await takeLock(folder, () => {});
  await expect(takeLock(folder, () => {})).rejects.toThrow(StackRunningError);
  first.release();
  const second = await takeLock(folder, () => {});
  second.release();
});

test('exactly one of many simultaneous starts over a stale lock succeeds', async () => {
  writeFileSync(
    lockFile(),
    JSON.stringify({ supervisor: { pid: process.pid, started: 'long ago' }, children: [] }),
  );
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(folder, () => {})));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('processes that a killed stack left running are ended, and another process with a reused pid is not', async () => {
  const leftover = bystander();
  const stranger = bystander();
  const supervisor = { pid: process.pid, started: 'long ago' };
  const list = [
    { name: 'quote', ...leftover },
    { name: 'wallet', pid: stranger.pid, started: 'long ago' },
  ];
  writeFileSync(lockFile(), JSON.stringify({ supervisor, children: list }));
  const said: string[] = [];

  const lock = await takeLock(folder, (line) => said.push(line), 200);

  expect(said).toEqual(['Ending the processes of a stack that was killed: quote']);
  expect(await waitUntilGone([leftover], 0)).toBe(true);
  expect(identify(stranger.pid)).toEqual(stranger);
  lock.release();
});

test('a truncated lock file does not block the start', async () => {
  writeFileSync(lockFile(), '{"supervisor":');
  const lock = await takeLock(folder, () => {});
  lock.setChildren([{ name: 'a', pid: 1, started: '0' }]);
  expect(JSON.parse(readFileSync(lockFile(), 'utf8')).children).toHaveLength(1);
  lock.release();
});
