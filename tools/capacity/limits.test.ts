import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Plan } from './levers.ts';
import { LIMITS } from './limits.ts';
import { DEFAULT_LOAD, type Load, scaled } from './load.ts';
import { neededValue, ranking, reachedAt } from './ranking.ts';
import { jsonOf, remedy, reportOf } from './report.ts';
import { readSite, type Site } from './site.ts';

let site: Site;
beforeAll(async () => {
  site = await readSite();
});

/** A load as somebody may plan it, from nothing to the absurd. */
const rate = fc.oneof(fc.constant(0), fc.double({ min: 0.001, max: 1e6, noNaN: true }));
const count = fc.integer({ min: 1, max: 100_000 });
const loads: fc.Arbitrary<Load> = fc.record({
  ...{ settles: rate, uses: rate, x402: rate, newPayersPerDay: rate, newVendorsPerDay: rate },
  price: fc.double({ min: 0.011, max: 50, noNaN: true }),
  usePrice: fc.double({ min: 0.000001, max: 1, noNaN: true }),
  usesPerReport: fc.integer({ min: 1, max: 1000 }),
  usesPerCapture: fc.integer({ min: 1, max: 10_000 }),
  ...{ vendors: count, payers: count },
  days: fc.integer({ min: 1, max: 400 }),
  rpcPlan: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 1_000_000 })),
  providers: fc.integer({ min: 1, max: 5 }),
  vendorFactor: fc.integer({ min: 1, max: 1000 }),
  payerFactor: fc.integer({ min: 1, max: 1000 }),
});
const exceeded = (plan: Plan) => LIMITS.filter(({ part }) => part(plan) > 1);

test('a higher load reaches every limit that a lower one has reached', () => {
  fc.assert(
    fc.property(loads, fc.double({ min: 1, max: 1000, noNaN: true }), (load, by) => {
      const before = exceeded({ site, load });
      const after = exceeded({ site, load: scaled(load, by) });
      expect(before.filter((limit) => !after.includes(limit))).toEqual([]);
    }),
  );
});

test('with the value that is printed the load is within the limit, and with a smaller one it is not', () => {
  let tried = 0;
  fc.assert(
    fc.property(loads, (load) => {
      for (const limit of LIMITS) {
        const plan = { site, load };
        const value = neededValue(limit, plan);
        if (value === null) continue;
        tried += 1;
        const { set, step } = limit.lever!;
        expect(limit.part(set(plan, value))).toBeLessThanOrEqual(1);
        expect(limit.part(set(plan, value - step))).toBeGreaterThan(1);
      }
    }),
  );
  expect(tried).toBeGreaterThan(100);
});

test('a limit is reached at the rate that is printed', () => {
  fc.assert(
    fc.property(loads, (load) => {
      const settles = LIMITS.filter(({ unit }) => unit === 'settles');
      const only = { ...scaled(load, 0), settles: 1 };
      for (const limit of settles) {
        const at = reachedAt(limit, { site, load: only });
        if (!Number.isFinite(at)) continue;
        expect(limit.part({ site, load: { ...only, settles: at } })).toBeCloseTo(1, 6);
      }
    }),
  );
});

const atOne = (what: string, load: Partial<Load> = {}, changed: Partial<Site> = {}): number => {
  const plan = { site: { ...site, ...changed }, load: { ...DEFAULT_LOAD, ...load } };
  return reachedAt(LIMITS.find((limit) => limit.what === what)!, plan);
};

describe('figures that others have computed', () => {
  test('docs/economics.md: five million settles a day, and a priority fee halves them', () => {
    // Less a fiftieth, which accepted payments need.
    expect(atOne('lamports of a day for settles') * 86_400).toBeCloseTo(5_000_000 * 0.98, -1);
    expect(atOne('lamports of a day for settles', {}, { priorityLamports: 20_000 }) * 86_400).toBeCloseTo(
      2_500_000 * 0.98,
      -1,
    );
  });
  test('docs/economics.md: a million payments of x402 a day, 2,451 token accounts, 100,000 approvals', () => {
    expect(atOne('lamports of a day for x402 and MPP') * 86_400).toBeCloseTo(1_000_000, -3);
    expect(Math.floor(atOne('token accounts of new vendors'))).toBe(2451);
    expect(Math.floor(atOne('token accounts of new payers'))).toBe(2451);
    expect(atOne('approvals of new payers')).toBeCloseTo(100_000, 3);
  });
  test('the hourly caps: 50 settles a second at 0.28 USDC', () => {
    expect(atOne('hourly cap of all payments', { price: 0.28 })).toBeCloseTo(49.6, 1);
    expect(atOne('hourly cap of a wallet', { price: 1, payers: 1 })).toBeCloseTo(1000 / 3600, 6);
  });
  test('the limits of an account: 30 quotes and 20 settles a minute, times 1,000 at most', () => {
    expect(atOne('quotes of a vendor')).toBe(0.5);
    expect(atOne('settles of a payer', { payers: 1, payerFactor: 1000 })).toBeCloseTo(333, 0);
    expect(atOne('reports of uses of a vendor', { usesPerReport: 1 })).toBe(20);
  });
});

test('the defaults carry 50 settles a second of one vendor at 0.05 USDC for a day', () => {
  // 30 quotes a minute are an account's, and an operator raises them (docs/spec/interface.md).
  const load: Load = { ...DEFAULT_LOAD, settles: 50, price: 0.05, vendors: 1, vendorFactor: 100 };
  const names = (plan: Plan) => exceeded(plan).map(({ what }) => what);
  expect(names({ site, load })).toEqual([]);
  const ofVendor = 'lamports of a day for settles of one vendor that are not earned';
  expect(names({ site, load: { ...load, settles: 60 } })).not.toContain(ofVendor);
  // Without fees a vendor has its tenth: 5.67 settles a second.
  const free = { ...site, settings: { ...site.settings, FEE_BPS: 0, FEE_MIN_MICRO: 0 } };
  expect(names({ site: free, load })).toEqual([ofVendor]);
  expect(atOne(ofVendor, {}, free)).toBeCloseTo(5.67, 2);
});

test('nothing and the absurd make sense', () => {
  const idle = reportOf({ site, load: DEFAULT_LOAD });
  expect(idle.limits).toHaveLength(5);
  expect(idle.limits.map(({ part, needed }) => [part, needed])).toEqual(Array(5).fill([0, null]));
  const absurd = reportOf({ site, load: { ...DEFAULT_LOAD, settles: 1e12, uses: 1e15 } }, LIMITS.length);
  expect(absurd.limits.filter(({ part }) => !Number.isFinite(part))).toEqual([]);
  // Every limit that is reached says what moves it, as JSON too.
  for (const ranked of absurd.limits) expect(remedy(ranked)).not.toMatch(/undefined|NaN|Infinity/);
  expect(JSON.stringify(jsonOf(absurd))).not.toMatch(/NaN|Infinity/);
  expect(JSON.stringify(absurd.needs)).not.toMatch(/NaN|undefined/);
});

test('the first limit is the one that is reached first', () => {
  fc.assert(
    fc.property(loads, (load) => {
      const parts = ranking({ site, load }).map(({ part }) => part);
      expect(parts).toEqual(parts.toSorted((a, b) => b - a));
    }),
  );
});
