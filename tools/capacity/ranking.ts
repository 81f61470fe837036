import type { Limit, Plan, Unit } from './levers.ts';
import { LIMITS } from './limits.ts';
import { type Load, scaled, settled } from './load.ts';

const RATES: Record<Unit, (load: Load) => number> = {
  settles: settled,
  uses: ({ uses }) => uses,
  x402: ({ x402 }) => x402,
  payers: ({ newPayersPerDay }) => newPayersPerDay,
  vendors: ({ newVendorsPerDay }) => newVendorsPerDay,
};
const ONE: Record<Unit, Partial<Load>> = {
  settles: { settles: 1 },
  uses: { uses: 1 },
  x402: { x402: 1 },
  payers: { newPayersPerDay: 1 },
  vendors: { newVendorsPerDay: 1 },
};

/**
 * The rate at which a limit is reached: a second, of payers and vendors a day. Of a load without
 * any of that kind: with nothing else.
 */
export const reachedAt = ({ unit, part }: Limit, { site, load }: Plan): number => {
  const mixed = RATES[unit](load) > 0 ? load : { ...scaled(load, 0), ...ONE[unit] };
  return RATES[unit](mixed) / part({ site, load: mixed });
};

/**
 * The smallest value of the lever with which the load stays within the limit.
 * @returns null where the load is within it already, or no value suffices
 */
export const neededValue = ({ lever, part }: Limit, plan: Plan): number | null => {
  if (lever === null || part(plan) <= 1) return null;
  const { read, set, step, most = Number.MAX_SAFE_INTEGER } = lever;
  const top = Math.floor(most / step);
  const suffices = (steps: number) => part(set(plan, steps * step)) <= 1;
  if (!suffices(top)) return null;
  let [low, high] = [Math.floor(read(plan) / step), top];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (suffices(middle)) high = middle;
    else low = middle;
  }
  return high * step;
};

/** A limit under a load. */
export type Ranked = { limit: Limit; part: number; at: number; needed: number | null };

/** All limits of a load, the one that is reached first at the beginning. */
export const ranking = (plan: Plan): Ranked[] => {
  const isIdle = Object.values(RATES).every((rate) => rate(plan.load) === 0);
  const asked: Plan = isIdle ? { ...plan, load: { ...plan.load, settles: 1 } } : plan;
  return LIMITS.map((limit) => ({
    order: limit.part(asked),
    limit,
    part: limit.part(plan),
    at: reachedAt(limit, plan),
    needed: neededValue(limit, plan),
  }))
    .toSorted((a, b) => b.order - a.order)
    .map(({ order: _, ...ranked }) => ranked);
};
