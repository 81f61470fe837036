/**
 * The only random source of a run: the same seed gives the same run (sfc32, seeded by splitmix32).
 */
export type Random = {
  /** In [0, 1). */
  next: () => number;
  chance: (probability: number) => boolean;
  /** In [low, high). */
  between: (low: number, high: number) => number;
  int: (low: number, high: number) => number;
  pick: <T>(list: readonly T[]) => T;
};

export const createRandom = (seed: number): Random => {
  let state = seed >>> 0;
  const mix = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  let [a, b, c, d] = [mix(), mix(), mix(), 1];
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4294967296;
  };
  for (let warm = 0; warm < 12; warm++) next();
  return {
    next,
    chance: (probability) => next() < probability,
    between: (low, high) => low + next() * (high - low),
    int: (low, high) => Math.floor(low + next() * (high - low)),
    pick: (list) => list[Math.floor(next() * list.length)]!,
  };
};
