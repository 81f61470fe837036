/** The result of one round of one side. Times are in milliseconds. */
export type Sample = { calls: number; perSecond: number; p50: number; p99: number; mean: number };

export type Summary = { min: number; median: number; max: number };

const ascending = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b);

/**
 * The value below or at which a share of all values lies (nearest rank, so it is always a measured
 * value).
 * @param share 0 to 1
 * @throws RangeError without values, because NaN would look like a figure
 */
export const percentile = (values: Iterable<number>, share: number): number => {
  const sorted = ascending(values);
  if (sorted.length === 0) throw new RangeError('no values');
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!;
};

/**
 * Minimum, median and maximum; the median of an even number of values is the mean of the two middle
 * ones. @throws RangeError without values
 */
export const summary = (values: Iterable<number>): Summary => {
  const sorted = ascending(values);
  if (sorted.length === 0) throw new RangeError('no values');
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
  return { min: sorted[0]!, median, max: sorted.at(-1)! };
};

/**
 * Each round's value divided by the other side's value in the same round. The two ran one after the
 * other, so both had the same conditions of the machine. The ratio of two medians would mix rounds
 * with different conditions.
 */
export const ratios = (ours: readonly number[], theirs: readonly number[]): number[] => {
  if (ours.length !== theirs.length) throw new RangeError('the two sides have different numbers of rounds');
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
    mean: list.reduce((sum, time) => sum + time, 0) / list.length,
  };
};

/**
 * Whether a series that should stay level has risen: the median of its last third is compared with
 * that of its middle third. The first third is the warm-up.
 * @param slack the allowed difference, as a share of the middle and as a minimum
 */
export const hasGrown = (series: readonly number[], slack: { share: number; least: number }): boolean => {
  const third = Math.floor(series.length / 3);
  if (third === 0) throw new RangeError('too few values to compare thirds');
  const middle = summary(series.slice(third, -third)).median;
  return summary(series.slice(-third)).median > middle + Math.max(middle * slack.share, slack.least);
};
