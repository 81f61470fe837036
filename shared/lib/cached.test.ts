import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { cached } from './cached.ts';

test('concurrent calls ask once, an old answer is asked for again, a failure is not kept', async () => {
  let calls = 0;
  const get = cached(
    async (key) => {
      calls += 1;
      if (key === 'bad') throw new Error('away');
      return `${key}${calls}`;
    },
    { maxAgeMs: 30 },
  );
  expect(await Promise.all([get('a'), get('a'), get('b')])).toEqual(['a1', 'a1', 'b2']);
  expect(await get('a')).toBe('a1');
  await sleep(40);
  expect(await get('a')).toBe('a3');
  await expect(get('bad')).rejects.toThrow('away');
  await expect(get('bad')).rejects.toThrow('away');
  expect(calls).toBe(5);
});

test('answers not worth keeping are not kept, and the number of keys is bounded', async () => {
  let calls = 0;
  const get = cached(async () => (calls += 1), {
    maxAgeMs: 10_000,
    maxEntries: 2,
    isCacheable: (n) => n !== 1,
  });
  expect([await get('a'), await get('a'), await get('a')]).toEqual([1, 2, 2]);
  await get('b');
  await get('c');
  expect(await get('a')).toBe(5);
});

test('what is forgotten is asked again, another is not', async () => {
  const asked: string[] = [];
  const get = cached(async (key) => asked.push(key), { maxAgeMs: 60_000 });
  expect([await get('a'), await get('b')]).toEqual([1, 2]);
  get.invalidate('a');
  expect([await get('a'), await get('b')]).toEqual([3, 2]);
});

test('an answer that was asked for before it was forgotten is not kept, nor does its failure drop a newer one', async () => {
  const answers: { resolve: (value: string) => void; reject: (error: Error) => void }[] = [];
  const get = cached(() => new Promise<string>((resolve, reject) => void answers.push({ resolve, reject })), {
    maxAgeMs: 60_000,
  });
  const before = get('a');
  get.invalidate('a');
  const after = get('a');
  answers[1]!.resolve('ended');
  expect([await after, await get('a')]).toEqual(['ended', 'ended']);
  answers[0]!.reject(new Error('away'));
  await expect(before).rejects.toThrow('away');
  expect([await get('a'), answers.length]).toEqual(['ended', 2]);
});

test('a key that was asked for of late is asked for ahead, one that was not is left alone', async () => {
  const calls = { busy: 0, idle: 0 };
  const busy = cached(async () => (calls.busy += 1), { maxAgeMs: 50, refreshAheadForMs: 60_000 });
  const idle = cached(async () => (calls.idle += 1), { maxAgeMs: 50, refreshAheadForMs: 1 });
  await Promise.all([busy('a'), idle('a')]);
  while (calls.busy < 3) await sleep(5);
  expect(calls.idle).toBe(1);
  busy.invalidate('a');
});
