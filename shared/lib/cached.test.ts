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
  const get = cached(async () => (calls += 1), { maxAgeMs: 10_000, maxEntries: 2, keep: (n) => n !== 1 });
  expect([await get('a'), await get('a'), await get('a')]).toEqual([1, 2, 2]);
  await get('b');
  await get('c');
  expect(await get('a')).toBe(5);
});
