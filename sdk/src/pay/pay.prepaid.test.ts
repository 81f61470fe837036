import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  bill,
  errorOf,
  type Harness,
  type Said,
  settlementOf,
  startHarness,
  tokenFor,
  type Visit,
} from '../../../test/support/stand-ins/scripted-vendors.ts';
import { memoryStore, NotDeliveredError, type PaymentStore } from './main.ts';

/**
 * One payment for many calls: the quote's scope has `units`, and the vendor consumes one per
 * request id.
 */

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.stop());

/** A vendor that counts units. A repeated request id consumes no further unit. */
const counting = (units: number) => {
  const taken = new Map<string, Set<string>>();
  harness.script.read = (settlement) => ({
    status: 'redeemed',
    redeemed_at: new Date().toISOString(),
    units_remaining: units - (taken.get(settlement)?.size ?? 0),
  });
  const answer = (visit: Visit, origin: string): Said => {
    const settlement = settlementOf(visit);
    const due = bill(
      tokenFor(`${origin}${visit.path.split('?')[0]}`, {
        scope: { resource: `${origin}${visit.path.split('?')[0]}`, units },
      }),
    );
    if (settlement === undefined) return due;
    const requests = taken.get(settlement) ?? new Set();
    taken.set(settlement, requests);
    const id = visit.headers['x-payment-request-id'] as string;
    if (!requests.has(id) && requests.size >= units) return due;
    requests.add(id);
    return { status: 200, body: { settlement } };
  };
  return { answer, taken: () => [...taken.values()].reduce((sum, { size }) => sum + size, 0) };
};
const atOnce = <T>(n: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: n }, (_, i) => make(i)));

test('a settlement is used until the vendor requests another payment, also after a restart', async () => {
  const { answer, taken } = counting(3);
  const vendor = await harness.vendor(answer);
  const store = memoryStore();
  for (let i = 0; i < 7; i += 1)
    expect((await harness.payer({ store })(`${vendor.origin}/a?${i}`)).status).toBe(200);
  expect(harness.paid()).toHaveLength(3);
  expect(taken()).toBe(7);
  // Only the first call and those that found it used up got a quote.
  expect(vendor.visits).toHaveLength(7 + 3);
  // Another resource needs another payment.
  await harness.payer({ store })(`${vendor.origin}/b`);
  expect(harness.paid()).toHaveLength(4);
});

test.each([
  [64, 64, 1],
  [64, 10, 7],
  [5, 1, 5],
])(
  '%i concurrent calls with %i units each make %i payments, and each call is served once',
  async (calls, units, payments) => {
    const { answer, taken } = counting(units);
    const vendor = await harness.vendor(answer);
    const pay = harness.payer({ budget: { total: BigInt(payments) * 1000n } });
    const answers = await atOnce(calls, () => errorOf(pay(`${vendor.origin}/a`)));
    expect(new Set(answers)).toEqual(new Set(['answered 200']));
    expect(harness.paid()).toHaveLength(payments);
    expect(taken()).toBe(calls);
  },
);

test('after a crash before the delivery the same request consumes no second unit', async () => {
  const { answer, taken } = counting(10);
  let lost = false;
  const vendor = await harness.vendor((visit, origin) => {
    const said = answer(visit, origin);
    return lost ? 'lost' : said;
  });
  const store = memoryStore();
  await harness.payer({ store })(`${vendor.origin}/a?1`);
  lost = true;
  await errorOf(harness.payer({ store })(`${vendor.origin}/a?2`));
  expect(taken()).toBe(2);
  lost = false;
  await harness.payer({ store })(`${vendor.origin}/a?2`);
  expect(taken()).toBe(2);
  expect(harness.paid()).toHaveLength(1);
});

test('a repeatable request is not stored, unless it fails: then an equal one takes no second unit', async () => {
  const { answer, taken } = counting(10);
  let failure: 'lost' | 503 | null = null;
  const vendor = await harness.vendor((visit, origin) => {
    const said = answer(visit, origin);
    if (said !== 'lost' && said.status === 402) Object.assign(said.body as object, { repeatable: true });
    if (failure === null || said === 'lost' || said.status === 402) return said;
    return failure === 'lost' ? 'lost' : { status: failure, body: {} };
  });
  const inner = memoryStore();
  let writes = 0;
  const store: PaymentStore = {
    load: inner.load,
    save: (name, record) => {
      writes += 1;
      expect(record.unsaved).toBeUndefined();
      return inner.save(name, record);
    },
    remove: (name, id) => {
      writes += 1;
      return inner.remove(name, id);
    },
  };
  const call = (path: string) => harness.payer({ store })(`${vendor.origin}${path}`);
  const get = async (path: string) => (await call(path)).status;
  expect(await get('/a?0')).toBe(200);
  writes = 0;
  for (let nth = 1; nth < 5; nth += 1) expect(await get(`/a?${nth}`)).toBe(200);
  expect([writes, taken()]).toEqual([0, 5]);
  failure = 'lost';
  await errorOf(call('/a?5'));
  failure = 503;
  expect(await get('/a?6')).toBe(503);
  failure = null;
  for (const path of ['/a?5', '/a?6']) expect(await get(path)).toBe(200);
  expect([taken(), harness.paid().length]).toEqual([7, 1]);
  // What was stored is removed with the delivery.
  writes = 0;
  expect(await get('/a?6')).toBe(200);
  expect([writes, taken()]).toEqual([0, 8]);
});

test('equal repeatable requests buy again when the units are used up, and leave no record', async () => {
  const { answer, taken } = counting(2);
  const vendor = await harness.vendor((visit, origin) => {
    const said = answer(visit, origin);
    if (said !== 'lost' && said.status === 402) Object.assign(said.body as object, { repeatable: true });
    return said;
  });
  const store = memoryStore();
  for (let nth = 0; nth < 7; nth += 1)
    expect((await harness.payer({ store })(`${vendor.origin}/a`)).status).toBe(200);
  expect([taken(), harness.paid().length]).toEqual([7, 4]);
});

test('an expired settlement is not presented again, and a new one that is never served is paid once', async () => {
  const { answer } = counting(10);
  let refusing: 'failed' | 'bill' | null = null;
  const vendor = await harness.vendor((visit, origin) => {
    if (settlementOf(visit) === undefined || refusing === null) return answer(visit, origin);
    if (refusing === 'failed') return { status: 402, body: { error: 'payment_failed' } };
    return answer({ ...visit, headers: {} }, origin);
  });
  const pay = harness.payer();
  await pay(`${vendor.origin}/a`);
  refusing = 'failed';
  harness.script.read = () => ({ status: 'expired' });
  expect(await errorOf(pay(`${vendor.origin}/a`))).toBeInstanceOf(NotDeliveredError);
  expect(harness.paid()).toHaveLength(1);
  await errorOf(pay(`${vendor.origin}/a`, { method: 'HEAD' }));
  expect(settlementOf(vendor.visits.at(-1)!)).toBeUndefined();
  refusing = 'bill';
  for (let i = 0; i < 3; i += 1)
    expect(await errorOf(pay(`${vendor.origin}/a`))).toBeInstanceOf(NotDeliveredError);
  expect(harness.paid()).toHaveLength(2);
});

test('the buying call is served first, and a waiting call that is aborted consumes and buys nothing', async () => {
  const { answer } = counting(1);
  let arrived: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const vendor = await harness.vendor(async (visit, origin) => {
    if (settlementOf(visit) === undefined) return answer(visit, origin);
    arrived();
    return new Promise<Said>(() => undefined);
  });
  const [holder, waiter] = [new AbortController(), new AbortController()];
  const pay = harness.payer();
  const held = errorOf(pay(`${vendor.origin}/a?1`, { signal: holder.signal }));
  await first;
  const waiting = errorOf(pay(`${vendor.origin}/a?2`, { signal: waiter.signal }));
  await new Promise((resolve) => setTimeout(resolve, 100));
  waiter.abort();
  expect(await waiting).toMatchObject({ name: 'AbortError' });
  expect(vendor.visits).toHaveLength(2);
  expect(harness.paid()).toHaveLength(1);
  holder.abort();
  expect(await held).toMatchObject({ name: 'AbortError' });
});
