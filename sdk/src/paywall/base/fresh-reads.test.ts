import { expect, test } from '@jest/globals';
import { freshReads } from './fresh-reads.ts';

/** Reads that end when the test says so. */
const controlled = () => {
  const ends: ((value: number) => void)[] = [];
  const read = freshReads(
    () => new Promise<number>((resolve) => ends.push(resolve)),
    (found) => found,
  );
  const begun = async (count: number): Promise<void> => {
    while (ends.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return { read, ends, begun };
};

test('a read begins after it was asked for, and those who wait share it', async () => {
  const { read, ends, begun } = controlled();
  const first = [read(), read()];
  await begun(1);
  const second = [read(), read(), read()];
  ends[0]!(1);
  expect(await Promise.all(first)).toEqual([1, 1]);
  await begun(2);
  const third = read();
  ends[1]!(2);
  expect(await Promise.all(second)).toEqual([2, 2, 2]);
  await begun(3);
  ends[2]!(3);
  expect([await third, ends.length]).toEqual([3, 3]);
});

test('a read that fails does not keep the next one from being made', async () => {
  let fails = true;
  const read = freshReads(
    async () => {
      if (fails) throw new Error('no answer');
      return 1;
    },
    (found) => found,
  );
  await expect(read()).rejects.toThrow('no answer');
  fails = false;
  expect(await read()).toBe(1);
});

test('reads of what does not change wait longer and longer, until it changes', async () => {
  let [made, state] = [0, 0];
  const read = freshReads(
    async () => {
      made += 1;
      return state;
    },
    (found) => found,
  );
  const until = Date.now() + 400;
  while (Date.now() < until) await read();
  expect(made).toBeLessThanOrEqual(8);
  state = 1;
  await read();
  const before = made;
  for (let more = 0; more < 3; more += 1) await read();
  expect(made).toBe(before + 3);
});
