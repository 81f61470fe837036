/**
 * Splits items into batches in which no key repeats, as a statement that writes many rows requires.
 * Items with the same key keep their order. There is usually one batch.
 */
export const distinctBatches = <T>(items: readonly T[], keyOf: (item: T) => string): T[][] => {
  const counts = new Map<string, number>();
  const batches: T[][] = [];
  for (const item of items) {
    const index = counts.get(keyOf(item)) ?? 0;
    counts.set(keyOf(item), index + 1);
    batches[index] ??= [];
    batches[index].push(item);
  }
  return batches;
};
