import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ensureOnce } from './once.mjs';

let base: string;
beforeAll(() => {
  base = mkdtempSync(path.join(tmpdir(), 'once-'));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const place = (name: string) => path.join(base, name, 'tool-1.0');
const beside = (folder: string) => readdirSync(path.dirname(folder));

/**
 * A process that fills the folder with two files. It writes `half` after the first, and goes on
 * when its input ends.
 */
const filler = (folder: string): ChildProcess => {
  const program = `
    import { appendFileSync, writeFileSync } from 'node:fs';
    import { ensureOnce } from ${JSON.stringify(path.join(import.meta.dirname, 'once.mjs'))};
    await ensureOnce(${JSON.stringify(folder)}, async (stage) => {
      writeFileSync(stage + '/one', '');
      console.log('half');
      for await (const _ of process.stdin);
      appendFileSync(stage + '/two', 'x');
    }, console.log);
    console.log('done');`;
  return spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
};
const saysUntil = async (child: ChildProcess, line: RegExp): Promise<string> => {
  let said = '';
  for await (const chunk of child.stdout!) {
    said += chunk;
    if (line.test(said)) break;
  }
  return said;
};

test('what was filled is there with all files, and is not filled again', async () => {
  const folder = place('again');
  const fill = (stage: string) => writeFileSync(path.join(stage, 'file'), 'first');
  expect(await ensureOnce(folder, fill)).toBe(folder);
  await ensureOnce(folder, () => Promise.reject(new Error('filled twice')));
  expect(readFileSync(path.join(folder, 'file'), 'utf8')).toBe('first');
  expect(beside(folder)).toEqual(['tool-1.0']);
});

test('what failed leaves nothing, and the next one tries again', async () => {
  const folder = place('fails');
  const fail = (stage: string) => {
    writeFileSync(path.join(stage, 'half'), '');
    throw new Error('no network');
  };
  await expect(ensureOnce(folder, fail)).rejects.toThrow('no network');
  expect(beside(folder)).toEqual([]);
  await ensureOnce(folder, (stage) => writeFileSync(path.join(stage, 'file'), ''));
  expect(beside(folder)).toEqual(['tool-1.0']);
});

test('of two processes one fills, and the other says for whom it waits', async () => {
  const folder = place('two');
  const first = filler(folder);
  await saysUntil(first, /half/);
  const second = filler(folder);
  expect(await saysUntil(second, /\n/)).toBe(
    `waiting for process ${first.pid}, which holds tool-1.0.claim\n`,
  );
  expect(existsSync(folder)).toBe(false);
  second.stdin!.end();
  first.stdin!.end();
  const codes = await Promise.all([first, second].map((child) => once(child, 'exit')));
  expect(codes).toEqual([
    [0, null],
    [0, null],
  ]);
  expect(readFileSync(path.join(folder, 'two'), 'utf8')).toBe('x');
  expect(beside(folder)).toEqual(['tool-1.0']);
});

test('a killed process leaves no folder, and its claim and its half do not stop the next one', async () => {
  const folder = place('killed');
  const killed = filler(folder);
  await saysUntil(killed, /half/);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  expect(existsSync(folder)).toBe(false);
  expect(beside(folder)).toHaveLength(2);
  await ensureOnce(folder, (stage) => writeFileSync(path.join(stage, 'file'), ''));
  expect(beside(folder)).toEqual(['tool-1.0']);
  expect(readdirSync(folder)).toEqual(['file']);
});

test('a claim counts for the process that wrote it, not for a later one with its pid', async () => {
  const folder = place('reused');
  mkdirSync(path.dirname(folder), { recursive: true });
  writeFileSync(`${folder}.claim`, `${process.ppid} 1`);
  await ensureOnce(folder, (stage) => writeFileSync(path.join(stage, 'file'), ''));
  expect(beside(folder)).toEqual(['tool-1.0']);
});
