import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  bill,
  challengeOf,
  charge,
  errorOf,
  type Harness,
  mppBill,
  mppDelivery,
  presentedIn,
  requirement,
  type Said,
  startHarness,
  tokenFor,
  type Visit,
  x402Bill,
  x402BillV1,
  x402Delivery,
} from '../../../../test/support/stand-ins/scripted-vendors.ts';

/** Hostile vendors of each dialect that has the payment: none gets anything twice. */

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.stop());

const OTHER = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
type Change = { amount?: string; payTo?: string; feePayer?: string };
type Answer = Said & object;
/** How vendors of a dialect ask, and the header in which they say that they were paid. */
type Dialect = { ask: (change?: Change) => Answer; delivery: () => Answer };

let challenges = 0;
const DIALECTS: Record<string, Dialect> = {
  'x402, version 2': {
    ask: ({ feePayer, ...change } = {}) =>
      x402Bill(requirement({ ...change, ...(feePayer && { extra: { feePayer } }) })),
    delivery: () => x402Delivery(),
  },
  'x402, version 1': {
    ask: ({ amount = '1000', feePayer, ...change } = {}) => {
      const { amount: _, ...rest } = requirement({ ...change, ...(feePayer && { extra: { feePayer } }) });
      return x402BillV1({ ...rest, network: 'solana-devnet', maxAmountRequired: amount }) as Answer;
    },
    delivery: () => {
      const { headers, ...rest } = x402Delivery();
      return { ...rest, headers: { 'x-payment-response': headers!['payment-response']! } };
    },
  },
  MPP: {
    ask: ({ payTo, feePayer, amount = '1000' } = {}) => {
      challenges += 1;
      const recipient = payTo === undefined ? {} : { recipient: payTo };
      const asked = charge({ amount, ...recipient }, feePayer === undefined ? {} : { feePayerKey: feePayer });
      return mppBill(challengeOf(asked, { id: `c${challenges}` }));
    },
    delivery: () => mppDelivery(),
  },
};

/** The answer to a payment, of the n-th call. `lost`: the connection breaks. */
type Attack = (dialect: Dialect, call: number) => Said;
const with402 =
  (change: Change): Attack =>
  ({ ask }) =>
    ask(change);
const withStatus =
  (status: number): Attack =>
  ({ ask }) => ({ ...ask(), status });
const others = (dialect: Dialect): Answer[] => [
  ...Object.values(DIALECTS)
    .filter((each) => each !== dialect)
    .map(({ ask }) => ask()),
  bill(tokenFor('http://127.0.0.1')) as Answer,
];
const ATTACKS: Record<string, Attack> = {
  'asks for it again': with402({}),
  'asks for more': with402({ amount: '5000' }),
  'asks for less': with402({ amount: '1' }),
  'asks for another recipient': with402({ payTo: OTHER }),
  'asks for another fee payer': with402({ feePayer: OTHER }),
  'asks by another protocol': (dialect, call) => others(dialect)[call % others(dialect).length]!,
  'asks by all protocols at once': (dialect) => {
    const [first, ...rest] = [dialect.ask(), ...others(dialect)];
    return { ...first!, headers: Object.assign({}, first!.headers, ...rest.map(({ headers }) => headers)) };
  },
  'says that it was paid, and asks again': ({ ask, delivery }) => {
    const asked = ask();
    return { ...asked, headers: { ...asked.headers, ...delivery().headers } };
  },
  'asks for it again with 401': withStatus(401),
  'asks for it again with 403': withStatus(403),
  'asks for it again with 429': withStatus(429),
  'asks for it again with 500': withStatus(500),
  'asks for it again with 503': withStatus(503),
  'refuses with 400': () => ({ status: 400 }),
  'refuses with 413': () => ({ status: 413 }),
  'redirects to itself': () => ({ status: 307, headers: { location: '/again' } }),
  'breaks the connection': () => 'lost',
};
const ROWS = Object.keys(DIALECTS).flatMap((dialect) =>
  Object.keys(ATTACKS).map((attack) => [dialect, attack] as const),
);

test.each(ROWS)('%s: a vendor that %s gets one payment', async (dialectName, attackName) => {
  const [dialect, attack] = [DIALECTS[dialectName]!, ATTACKS[attackName]!];
  let paidCalls = 0;
  const vendor = await harness.vendor((visit) => {
    if (presentedIn(visit) === undefined) return dialect.ask();
    paidCalls += 1;
    return attack(dialect, paidCalls);
  });
  const pay = harness.payer();
  // Without a key, an equal call goes on with what the call before has paid.
  for (const init of [{ paymentKey: 'once' }, { paymentKey: 'once' }, { paymentKey: 'once' }])
    await errorOf(pay(`${vendor.origin}/a`, init));
  for (let calls = 0; calls < 3; calls += 1) await errorOf(pay(`${vendor.origin}/b`));
  const signs = harness.api.asked.filter(({ call }) => call === 'POST /v1/payments');
  expect(harness.signed()).toHaveLength(2);
  // Each attempt was asked for with the same words.
  expect(new Set(signs.map(({ body }) => JSON.stringify(body))).size).toBe(2);
  const shown = (path: string) =>
    vendor.visits
      .filter((visit: Visit) => visit.path === path)
      .map(presentedIn)
      .filter(Boolean);
  for (const path of ['/a', '/b']) expect(new Set(shown(path)).size).toBe(1);
  expect(shown('/again')).toEqual([]);
  expect(harness.paid()).toEqual([]);
});

test.each(Object.keys(DIALECTS))(
  '%s: 16 equal calls at once with one key make one payment, whatever the vendor answers',
  async (name) => {
    const dialect = DIALECTS[name]!;
    const attacks = Object.values(ATTACKS);
    let paidCalls = 0;
    const vendor = await harness.vendor((visit) => {
      if (presentedIn(visit) === undefined) return dialect.ask();
      paidCalls += 1;
      return attacks[paidCalls % attacks.length]!(dialect, paidCalls);
    });
    const pay = harness.payer();
    for (let rounds = 0; rounds < 3; rounds += 1)
      await Promise.all(
        Array.from({ length: 16 }, () => errorOf(pay(vendor.origin, { paymentKey: 'once' }))),
      );
    expect(harness.signed()).toHaveLength(1);
    expect(new Set(vendor.visits.map(presentedIn).filter(Boolean)).size).toBe(1);
  },
);
