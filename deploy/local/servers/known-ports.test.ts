import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { createKnownPorts } from './known-ports.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'ports-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Finds the first port from a given one on that is not taken, and takes it. */
const finder = (taken: number[]) => async (from: number) => {
  let port = from;
  while (taken.includes(port)) port++;
  taken.push(port);
  return port;
};

test('a start takes the ports of the last one again, also when the default is free by then', async () => {
  const file = path.join(folder, 'again.json');
  const first = createKnownPorts(file);
  const find = finder([3402]);
  expect([await first.choose(3402, find), await first.choose(3402, find)]).toEqual([3403, 3404]);
  expect(first.moved(3402)).toEqual({ from: 3402, to: 3403 });

  const second = createKnownPorts(file);
  expect(await second.choose(3402, finder([]))).toBe(3403);
  expect(second.moved(3402)).toBeNull();

  const third = createKnownPorts(file);
  const other = finder([3403]);
  // The second process of the last but one start has its port still.
  expect([await third.choose(3402, other), await third.choose(3402, other)]).toEqual([3404, 3405]);
  expect(third.moved(3402)).toEqual({ from: 3403, to: 3404 });
});

test('a file that cannot be read counts as none', async () => {
  expect(await createKnownPorts(path.join(folder, 'absent.json')).choose(8025, finder([]))).toBe(8025);
});
