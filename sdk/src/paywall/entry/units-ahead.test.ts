import { afterEach, expect, jest, test } from '@jest/globals';
import { createRng } from '../../../../test/faults/rng.ts';
import type { Client } from '../../client.ts';
import { ApiError } from '../../errors.ts';
import { unavailable } from '../base/answers.ts';
import { createDeliveries } from '../base/deliveries.ts';
import type { Bill } from '../base/dialect.ts';
import { memoryStore, type PaywallStore } from '../base/store.ts';
import { createSettlements } from '../quittance/settlements.ts';
import { createUnitsAhead } from './units-ahead.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

const UNITS = 11;
const TERMS = {
  service_id: 'the service',
  scope: { resource: 'https://shop.example/', units: UNITS },
  quote_amount: '1000000',
  chain_status: 'confirmed',
};
const BILL: Bill = {
  ...{ resource: TERMS.scope.resource, amount: '1000000', units: UNITS },
  ...{ ahead: 4, replays: true, metered: null, route: {} },
};

/**
 * Replicas that come and go, a store and an API that answer late, not at all, or only after the
 * effect, and requests that die. Who is told that the units are used up can find none, and at the
 * end every unit was delivered to exactly one request.
 */
const campaign = async (seed: number) => {
  const rng = createRng(seed);
  const jitter = async () => {
    // Now and then a replica is so slow that others use up a block meanwhile.
    const most = rng.chance(0.1) ? 80 : 4;
    for (let turns = rng.int(0, most); turns > 0; turns -= 1) await Promise.resolve();
  };
  let now = 1_000_000;
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  let problem = true;
  /** Deliveries whose record is written, which is not lost here: that is the other campaign. */
  let recording = 0;
  const lossy = async <T>(call: () => T): Promise<T> => {
    await jitter();
    const isLossy = problem && recording === 0;
    if (isLossy && rng.chance(0.05)) throw new Error('lost before');
    const result = call();
    if (isLossy && recording === 0 && rng.chance(0.05)) throw new Error('lost after');
    await jitter();
    return result;
  };
  const shared = memoryStore();
  const store: PaywallStore = {
    get: (key) => lossy(() => shared.get(key)) as Promise<string | null>,
    compareAndSet: (...args) => lossy(() => shared.compareAndSet(...args)) as Promise<boolean>,
    take: (...args) => lossy(() => shared.take!(...args)) as never,
  };
  const consumed = new Map<string, number>();
  const consumedUnits = () => [...consumed.values()].reduce((sum, units) => sum + units, 0);
  const unitsLeft = () => UNITS - consumedUnits();
  const exhausted = () =>
    new ApiError(
      { code: 'settlement_exhausted', message: '' },
      { status: 409, requestId: null, retryAfterMs: null },
    );
  /** As the API: a repeat of a request id consumes nothing and succeeds. */
  const consume = ({ units = 1, request_id: id }: { units?: number; request_id: string }) =>
    lossy(() => {
      if (!consumed.has(id) && units > unitsLeft()) throw exhausted();
      expect({ seed, units: consumed.get(id) ?? units }).toEqual({ seed, units });
      consumed.set(id, units);
      return {};
    });
  const verify = () => lossy(() => ({ ...TERMS, units_remaining: unitsLeft() }));
  const client = { settlement: { consume, verify } } as unknown as Client;

  const undecided = () => unavailable('no_answer');
  const replica = () => {
    const settlementOf = createSettlements(client, TERMS.service_id);
    const begin = createUnitsAhead(
      store,
      createDeliveries(store, () => {}),
      () => {},
    );
    return (hash: string) => {
      const ids = { settlement_id: 'payment', settlement_token: '' };
      const { mismatch, consume, refusal } = settlementOf(ids, async () => false);
      const payment = {
        key: 'payment',
        mismatch: (bill: Bill) => mismatch(bill).catch(undecided),
        take: () => Promise.reject(new Error('an undecided request has no record')),
        ahead: {
          refusal,
          consume: (bill: Bill, units: number, id: string) => consume(bill, units, id).catch(undecided),
        },
      };
      return begin(payment, BILL, { key: `payment:${hash}`, hash });
    };
  };
  const replicas = [replica(), replica()];
  const delivered = new Set<string>();
  /** Units of blocks that were consumed and that a request can still get. */
  const unitsAhead = () =>
    [...consumed]
      .map(([id, units]) => Number(shared.get(`payment:block:${id}`) ?? units))
      .reduce((sum, units) => sum + units, 0);
  const request = async (hash: string): Promise<string> => {
    const at = rng.int(0, replicas.length);
    if (problem && rng.chance(0.1)) replicas[at] = replica();
    const begun = await replicas[at]!(hash).catch(() => null);
    if (begun === null) return 'error';
    if (begun.kind === 'refused') {
      const { reason } = begun;
      if (reason === 'settlement_exhausted')
        expect({ seed, left: unitsLeft() + unitsAhead() }).toEqual({ seed, left: 0 });
      return reason;
    }
    if (begun.kind !== 'deliver') return begun.kind;
    await jitter();
    if (problem && rng.chance(0.2)) return 'died';
    expect({ seed, twice: delivered.has(hash) }).toEqual({ seed, twice: false });
    recording += 1;
    await begun.finish({ kind: 'delivered', answer: { status: 200, headers: [], body: hash } });
    recording -= 1;
    delivered.add(hash);
    return 'delivered';
  };

  const asked = new Set<string>();
  for (let round = 0; round < 4; round += 1) {
    const hashes = Array.from({ length: 5 }, () => `request ${rng.int(0, 8)}`);
    for (const hash of hashes) asked.add(hash);
    await Promise.all(hashes.map(request));
    now += 31_000;
    expect({ seed, over: delivered.size > consumedUnits() }).toEqual({ seed, over: false });
  }
  problem = false;
  for (const hash of asked) await request(hash);
  for (let more = 0; more < UNITS + 1; more += 1) await request(`more ${more}`);
  expect({ seed, last: await request('last') }).toEqual({ seed, last: 'settlement_exhausted' });
  expect({ seed, units: consumedUnits(), delivered: delivered.size }).toEqual({
    ...{ seed, units: UNITS, delivered: UNITS },
  });
};

test('in 500 orders of requests, losses and crashes each unit is delivered to one request', async () => {
  jest.spyOn(globalThis, 'setInterval').mockImplementation((() => ({ unref: () => {} })) as never);
  for (let seed = 1; seed <= 500; seed += 1) {
    await campaign(seed);
    jest.mocked(Date.now).mockRestore();
  }
});
