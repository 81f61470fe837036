/** The ticks of an axis of money. Pure; micro-units. */

/** At most so many steps, so that the labels have room. */
const STEPS = 4n;

/** The steps 1, 2 and 5 of each power of ten, from one micro-unit. */
function* steps(): Generator<bigint> {
  for (let power = 1n; ; power *= 10n) for (const factor of [1n, 2n, 5n]) yield factor * power;
}

/** From zero to at least the highest bar, in steps of 1, 2 or 5 times a power of ten. */
export const ticksOf = (highest: bigint): readonly bigint[] => {
  for (const step of steps()) {
    const count = (highest + step - 1n) / step;
    if (count > STEPS) continue;
    return Array.from({ length: Number(count > 0n ? count : 1n) + 1 }, (_, at) => BigInt(at) * step);
  }
  throw new Error('the steps have no end');
};
