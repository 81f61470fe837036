/** What one round of one side showed. Times in milliseconds. */
export type Sample = { calls: number; perSecond: number; p50: number; p99: number };

export type Summary = { min: number; median: number; max: number };

const ascending = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b);

/**
 * The value that a share of all lies at or below (nearest rank: always one that was measured).
 * @param share 0 to 1
 * @throws RangeError without values: there is nothing to say, and NaN would pass for a figure
 */
export const percentile = (values: Iterable<number>, share: number): number => {
  const sorted = ascending(values);
  if (sorted.length === 0) throw new RangeError('no values');
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!;
};

/**
 * Least, middle and greatest; between two middle ones their mean. @throws RangeError without values
 */
export const summary = (values: Iterable<number>): Summary => {
  const sorted = ascending(values);
  if (sorted.length === 0) throw new RangeError('no values');
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
  return { min: sorted[0]!, median, max: sorted.at(-1)! };
};

/**
 * Each round's value divided by the other side's of the same round. The two ran one after the
 * other, so what the machine did meanwhile has met both; the ratio of two medians would mix rounds
 * of different weather.
 */
export const ratios = (ours: readonly number[], theirs: readonly number[]): number[] => {
  if (ours.length !== theirs.length) throw new RangeError('rounds without a pair');
  return ours.map((value, round) => value / theirs[round]!);
};

/** @param elapsedMs from the first call sent to the last one answered */
export const sampleOf = (times: Iterable<number>, elapsedMs: number): Sample => {
  const list = [...times];
  return {
    calls: list.length,
    perSecond: (list.length * 1000) / elapsedMs,
    p50: percentile(list, 0.5),
    p99: percentile(list, 0.99),
  };
};

/**
 * Whether a series that should stay level has risen: the median of its last third against that of
 * its middle third. The first third warms up.
 * @param slack by how much of the middle it may differ, and by how much in any case
 */
export const hasGrown = (series: readonly number[], slack: { share: number; least: number }): boolean => {
  const third = Math.floor(series.length / 3);
  if (third === 0) throw new RangeError('too few values to tell');
  const middle = summary(series.slice(third, -third)).median;
  return summary(series.slice(-third)).median > middle + Math.max(middle * slack.share, slack.least);
};
