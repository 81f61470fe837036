import { expect, test } from '@jest/globals';
import { createInMemoryWindow } from './in-memory-window.ts';

const windowAt = () => {
  const clock = { ms: 0 };
  const { consume } = createInMemoryWindow({ now: () => clock.ms, maxKeys: 2 });
  return (ms: number, key = 'a') => {
    clock.ms = ms;
    const { passed, resetMs } = consume(key, 10, 2);
    return passed ? 0 : resetMs;
  };
};

test('a burst across the edge of a window gets no more than the points', () => {
  const at = windowAt();
  const waits = [at(0), ...Array.from({ length: 9 }, () => at(1850))];
  expect(waits).toEqual(Array(10).fill(0));
  // The first point is free again at 2000; the other nine stay consumed until 3850.
  expect([at(1999), at(2100), at(2100), at(3849), at(3850)]).toEqual([1, 0, 1750, 1, 0]);
});

test('the state reports the remaining points and when the oldest becomes free', () => {
  const clock = { ms: 0 };
  const { consume } = createInMemoryWindow({ now: () => clock.ms });
  const at = (ms: number) => {
    clock.ms = ms;
    return consume('a', 2, 1);
  };
  expect([at(0), at(400), at(700), at(1000)]).toEqual([
    { passed: true, remaining: 1, resetMs: 1000 },
    { passed: true, remaining: 0, resetMs: 600 },
    { passed: false, remaining: 0, resetMs: 300 },
    { passed: true, remaining: 0, resetMs: 400 },
  ]);
});

test('a refused call consumes no point', () => {
  const at = windowAt();
  for (let i = 0; i < 10; i++) at(0);
  for (let i = 0; i < 100; i++) expect(at(1000)).toBe(1000);
  expect(at(2000)).toBe(0);
});

test('the least recently used key is dropped first', () => {
  const at = windowAt();
  for (let i = 0; i < 10; i++) at(0, 'busy');
  at(0, 'quiet');
  at(1, 'busy');
  at(2, 'new');
  expect(at(3, 'busy')).toBeGreaterThan(0);
});
