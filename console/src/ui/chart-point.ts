/** One bar: `micro` in micro-units, and `more` on top of it in a chart with two parts. */
export type Point = { label: string; micro: bigint; more?: bigint };
