/**
 * Splits items so that no part names a thing twice, as a statement that writes many rows needs it; what is said of one
 * thing stays in its order. Mostly there is one part.
 */
export const rounds = <T>(items: readonly T[], keyOf: (item: T) => string): T[][] => {
  const seen = new Map<string, number>();
  const parts: T[][] = [];
  for (const item of items) {
    const round = seen.get(keyOf(item)) ?? 0;
    seen.set(keyOf(item), round + 1);
    parts[round] ??= [];
    parts[round].push(item);
  }
  return parts;
};
