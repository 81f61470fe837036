import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { cachedMany } from './cached-many.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const OPTIONS = { keyOf: (key: string) => key, maxAgeMs: 1000, refreshForMs: 5000 };

/** A cache whose loads are recorded. An answer is the number of its load. */
const recorded = (
  options: Partial<typeof OPTIONS> & {
    isCacheable?: (value: number) => boolean;
    isRefreshed?: (value: number) => boolean;
  } = {},
) => {
  const loads: string[][] = [];
  const get = cachedMany(
    async (keys: readonly string[]) => {
      const number = loads.push([...keys]);
      if (keys.includes('bad')) throw new Error('unavailable');
      return keys.map(() => number);
    },
    { ...OPTIONS, ...options },
  );
  /** What is asked in one turn of the event loop. */
  const ask = async (...keys: string[]) => {
    const answers = Promise.allSettled(keys.map(get));
    await jest.advanceTimersByTimeAsync(1);
    return (await answers).map((answer) => (answer.status === 'fulfilled' ? answer.value : 'failed'));
  };
  return { get, ask, loads };
};

test('what a turn misses is one load, and equal inputs share an answer', async () => {
  const { ask, loads } = recorded();
  expect(await ask('a', 'b', 'a')).toEqual([1, 1, 1]);
  expect(await ask('a', 'c')).toEqual([1, 2]);
  expect(loads).toEqual([['a', 'b'], ['c']]);
});

test('answers that were used lately are refreshed in one load before they are too old', async () => {
  const { ask, loads } = recorded();
  await ask('a', 'b');
  await jest.advanceTimersByTimeAsync(800);
  expect(loads.map((keys) => keys.toSorted())).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
  expect(await ask('a')).toEqual([2]);
});

test('an answer that nobody used for the refresh time is not refreshed, and then loaded again', async () => {
  const { ask, loads } = recorded({ refreshForMs: 1 });
  await ask('a');
  await jest.advanceTimersByTimeAsync(5000);
  expect(loads).toHaveLength(1);
  expect(await ask('a')).toEqual([2]);
});

test('a failed load fails its callers only, and is not cached', async () => {
  const { ask } = recorded();
  expect(await ask('a')).toEqual([1]);
  expect(await ask('a', 'bad')).toEqual([1, 'failed']);
  expect(await ask('bad', 'b')).toEqual(['failed', 'failed']);
  expect(await ask('b')).toEqual([4]);
});

test('a refresh that fails leaves an answer until it is too old', async () => {
  let isDown = false;
  const get = cachedMany(async (keys: readonly string[]) => {
    if (isDown) throw new Error('unavailable');
    return keys.map(() => 1);
  }, OPTIONS);
  const ask = async () => {
    const answer = Promise.allSettled([get('a')]);
    await jest.advanceTimersByTimeAsync(1);
    return (await answer)[0]!.status;
  };
  expect(await ask()).toBe('fulfilled');
  isDown = true;
  await jest.advanceTimersByTimeAsync(900);
  expect(await ask()).toBe('fulfilled');
  await jest.advanceTimersByTimeAsync(100);
  expect(await ask()).toBe('rejected');
});

test('an invalidated answer is loaded again, also while a refresh of it is under way', async () => {
  const refreshes: ((value: string[]) => void)[] = [];
  const get = cachedMany(
    (_keys: readonly string[]) => new Promise<string[]>((resolve) => void refreshes.push(resolve)),
    OPTIONS,
  );
  const first = get('a');
  await jest.advanceTimersByTimeAsync(1);
  refreshes[0]!(['old']);
  expect(await first).toBe('old');
  await jest.advanceTimersByTimeAsync(750);
  expect(refreshes).toHaveLength(2);
  get.invalidate('a');
  refreshes[1]!(['old']);
  const again = get('a');
  await jest.advanceTimersByTimeAsync(1);
  refreshes[2]!(['new']);
  expect([await again, await get('a')]).toEqual(['new', 'new']);
});

test('an answer that is not cacheable is loaded again', async () => {
  const { ask } = recorded({ isCacheable: (value) => value !== 1 });
  expect([await ask('a'), await ask('a'), await ask('a')]).toEqual([[1], [2], [2]]);
});

test('an answer that is not worth a refresh is cached, and not refreshed', async () => {
  const { ask, loads } = recorded({ isRefreshed: () => false });
  expect([await ask('a'), await ask('a')]).toEqual([[1], [1]]);
  await jest.advanceTimersByTimeAsync(5000);
  expect(loads).toHaveLength(1);
});

test('a load that throws at once fails its callers', async () => {
  const get = cachedMany<string, number>(() => {
    throw new Error('not connected');
  }, OPTIONS);
  const answer = Promise.allSettled([get('a')]);
  await jest.advanceTimersByTimeAsync(1);
  expect((await answer)[0]!.status).toBe('rejected');
});
