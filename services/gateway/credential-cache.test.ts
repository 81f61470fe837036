import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createCredentialCache } from './credential-cache.ts';

const counting = (options: { maxAgeMs: number; maxEntries?: number }) => {
  const asked: string[] = [];
  const cache = createCredentialCache(async (key) => {
    asked.push(key);
    return `${key}${asked.length}`;
  }, options);
  return { ...cache, asked };
};

test('a burst asks once, and an entry too old is asked again', async () => {
  const { get, asked } = counting({ maxAgeMs: 30 });
  expect(await Promise.all([get('a'), get('a'), get('a')])).toEqual(['a1', 'a1', 'a1']);
  await sleep(40);
  expect(await get('a')).toBe('a2');
  expect(asked).toEqual(['a', 'a']);
});

test('what is forgotten is asked again, another is not', async () => {
  const { get, forget, asked } = counting({ maxAgeMs: 60_000 });
  await get('a');
  await get('b');
  forget('a');
  expect([await get('a'), await get('b')]).toEqual(['a3', 'b2']);
  expect(asked).toEqual(['a', 'b', 'a']);
});

test('an answer that was asked for before the revocation is not kept', async () => {
  const answers: ((value: string) => void)[] = [];
  const { get, forget } = createCredentialCache(
    () => new Promise<string>((resolve) => void answers.push(resolve)),
    {
      maxAgeMs: 60_000,
    },
  );
  const before = get('a');
  forget('a');
  const after = get('a');
  answers[0]!('live');
  answers[1]!('ended');
  expect([await before, await after, await get('a')]).toEqual(['live', 'ended', 'ended']);
});

test('a failed question is not kept, and its failure does not drop a newer answer', async () => {
  let calls = 0;
  const cache = createCredentialCache(
    async () => {
      calls += 1;
      if (calls === 1) throw new Error('away');
      return calls;
    },
    { maxAgeMs: 60_000 },
  );
  await expect(cache.get('a')).rejects.toThrow('away');
  expect([await cache.get('a'), await cache.get('a')]).toEqual([2, 2]);
});

test('the number of entries is bounded, the oldest go', async () => {
  const { get, asked } = counting({ maxAgeMs: 60_000, maxEntries: 2 });
  for (const key of ['a', 'b', 'c', 'c', 'a']) await get(key);
  expect(asked).toEqual(['a', 'b', 'c', 'a']);
});
