import { expect, test } from '@jest/globals';
import { hasGrown, percentile, ratios, sampleOf, summary } from './statistics.ts';

const upTo = (n: number) => Array.from({ length: n }, (_, i) => n - i);

test.each([
  // values, share, expected
  [[7], 0.5, 7],
  [[7], 0.99, 7],
  [[3, 1, 2], 0.5, 2],
  [upTo(100), 0.5, 50],
  [upTo(100), 0.99, 99],
  [upTo(1000), 0.99, 990],
  [upTo(4), 0, 1],
  [upTo(4), 1, 4],
])('the percentile of %p at %p is %p, one of the values', (values, share, expected) => {
  expect(percentile(values, share)).toBe(expected);
});

test.each([
  [[2], { min: 2, median: 2, max: 2 }],
  [[10, 9, 1], { min: 1, median: 9, max: 10 }],
  [[4, 1, 2, 100], { min: 1, median: 3, max: 100 }],
])('the summary of %p sorts by number', (values, expected) => {
  expect(summary(values)).toEqual(expected);
});

test('ratios are computed round by round', () => {
  // Both sides have the median 20, but in no round were they equal.
  expect(ratios([10, 20, 30], [20, 10, 40])).toEqual([0.5, 2, 0.75]);
  expect(() => ratios([1, 2], [1])).toThrow(RangeError);
});

test('a sample divides the answers by the whole time', () => {
  expect(sampleOf([1, 2, 3, 4], 500)).toEqual({ calls: 4, perSecond: 8, p50: 2, p99: 4, mean: 2.5 });
});

test('a figure without values is an error', () => {
  for (const empty of [() => percentile([], 0.5), () => summary([]), () => sampleOf([], 1000)])
    expect(empty).toThrow(RangeError);
});

test.each([
  ['level', [100, 100, 100, 100, 100, 100], false],
  ['warming up only', [10, 50, 100, 100, 100, 100], false],
  ['within the share', [100, 100, 100, 100, 109, 109], false],
  ['beyond the share', [100, 100, 100, 100, 112, 112], true],
  ['small numbers may differ by the least', [1, 1, 1, 1, 3, 3], false],
  ['a rise is found after a higher beginning', [200, 200, 100, 100, 115, 115], true],
  ['shrinking', [100, 100, 100, 100, 50, 50], false],
])('growth: %s', (_name, series, expected) => {
  expect(hasGrown(series, { share: 0.1, least: 2 })).toBe(expected);
});
