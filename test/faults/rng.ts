/** Random numbers that a seed repeats: the schedule of a campaign is a function of the seed. */
export type Rng = {
  /** At least `from`, less than `to`. */
  int: (from: number, to: number) => number;
  chance: (probability: number) => boolean;
  pick: <T>(from: readonly T[]) => T;
  shuffle: <T>(of: readonly T[]) => T[];
  /**
   * Another stream of random numbers, a function of this one and the number alone, whatever was
   * drawn meanwhile.
   */
  fork: (number: number) => Rng;
};

/** mulberry32: 32 bits of state suffice to choose faults. */
export const createRng = (seed: number): Rng => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from));
  return {
    int,
    chance: (probability) => next() < probability,
    pick: (from) => from[int(0, from.length)]!,
    shuffle: (of) => {
      const list = [...of];
      for (let last = list.length - 1; last > 0; last -= 1) {
        const other = int(0, last + 1);
        [list[last], list[other]] = [list[other]!, list[last]!];
      }
      return list;
    },
    fork: (number) => createRng(Math.imul(seed ^ 0x9e3779b9, 2 * number + 1) ^ number),
  };
};
