import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { cached, cachedValue } from './cached.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('concurrent calls share one load, an old answer is loaded again, and a failure is not cached', async () => {
  let calls = 0;
  const get = cached(
    async (key: string) => {
      calls += 1;
      if (key === 'bad') throw new Error('unavailable');
      return `${key}${calls}`;
    },
    { maxAgeMs: 30 },
  );
  expect(await Promise.all([get('a'), get('a'), get('b')])).toEqual(['a1', 'a1', 'b2']);
  expect(await get('a')).toBe('a1');
  jest.advanceTimersByTime(40);
  expect(await get('a')).toBe('a3');
  await expect(get('bad')).rejects.toThrow('unavailable');
  await expect(get('bad')).rejects.toThrow('unavailable');
  expect(calls).toBe(5);
});

test('an answer that is not cacheable is loaded again, and the number of keys is bounded', async () => {
  let calls = 0;
  const get = cached(async (_key: string) => (calls += 1), {
    maxAgeMs: 10_000,
    maxEntries: 2,
    isCacheable: (n) => n !== 1,
  });
  expect([await get('a'), await get('a'), await get('a')]).toEqual([1, 2, 2]);
  await get('b');
  await get('c');
  expect(await get('a')).toBe(5);
});

test('an invalidated key is loaded again, and another key is not', async () => {
  const loads: string[] = [];
  const get = cached(async (key: string) => loads.push(key), { maxAgeMs: 60_000 });
  expect([await get('a'), await get('b')]).toEqual([1, 2]);
  get.invalidate('a');
  expect([await get('a'), await get('b')]).toEqual([3, 2]);
});

test('a load that began before the invalidation is not cached, and its failure drops no newer answer', async () => {
  const answers: { resolve: (value: string) => void; reject: (error: Error) => void }[] = [];
  const get = cached(
    (_key: string) => new Promise<string>((resolve, reject) => void answers.push({ resolve, reject })),
    { maxAgeMs: 60_000 },
  );
  const before = get('a');
  get.invalidate('a');
  const after = get('a');
  answers[1]!.resolve('revoked');
  expect([await after, await get('a')]).toEqual(['revoked', 'revoked']);
  answers[0]!.reject(new Error('unavailable'));
  await expect(before).rejects.toThrow('unavailable');
  expect([await get('a'), answers.length]).toEqual(['revoked', 2]);
});

test('a recently used key is refreshed ahead, and an unused key is not', async () => {
  const calls = { busy: 0, idle: 0 };
  const busy = cached(async (_key: string) => (calls.busy += 1), { maxAgeMs: 50, refreshAheadForMs: 60_000 });
  const idle = cached(async (_key: string) => (calls.idle += 1), { maxAgeMs: 50, refreshAheadForMs: 1 });
  await Promise.all([busy('a'), idle('a')]);
  await jest.advanceTimersByTimeAsync(100);
  expect(calls.busy).toBe(3);
  expect(calls.idle).toBe(1);
  busy.invalidate('a');
});

test('an input of several parts reaches the load as it is, and equal ones share an answer', async () => {
  const loads: { account: string; owner: string }[] = [];
  const get = cached(async (input: { account: string; owner: string }) => loads.push(input), {
    keyOf: ({ account, owner }) => `${account}/${owner}`,
    maxAgeMs: 60_000,
  });
  const [first, other] = [
    { account: 'a', owner: 'b' },
    { account: 'a', owner: 'c' },
  ];
  expect([await get(first), await get({ ...first }), await get(other)]).toEqual([1, 1, 2]);
  get.invalidate({ ...first });
  expect([await get(first), await get(other)]).toEqual([3, 2]);
  expect(loads).toEqual([first, other, first]);
});

test('a value without an input is loaded once for all, and again when it is old', async () => {
  let calls = 0;
  const get = cachedValue(async () => (calls += 1), { maxAgeMs: 30 });
  expect(await Promise.all([get(), get()])).toEqual([1, 1]);
  jest.advanceTimersByTime(40);
  expect(await get()).toBe(2);
});
