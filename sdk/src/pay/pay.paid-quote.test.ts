import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { skipPauses } from '../../../test/support/base/skipped-pauses.ts';
import { type Asked, refusal } from '../../../test/support/stand-ins/scripted-server.ts';
import {
  bill,
  errorOf,
  type Harness,
  honest,
  type Said,
  settlementOf,
  startHarness,
  tokenFor,
  type Visit,
} from '../../../test/support/stand-ins/scripted-vendors.ts';
import { ApiError, PaidElsewhereError } from '../main.ts';
import { memoryStore, NotDeliveredError, PriceAboveCapError, QuoteTakenError } from './main.ts';

/** Many buyers get one quote, and another buyer pays it first. */

skipPauses();

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.stop());

const refusedOf = ({ headers }: Visit) => headers['x-quote-refused'];
const settles = () => harness.api.asked.filter(({ call }) => call.startsWith('POST'));
const idIn = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).quote_id;
const tokenOf = ({ body }: Asked) => body!.quote_token as string;

/**
 * A vendor with one quote for all buyers. A buyer who names it as refused gets the next of
 * `others`, then the same one again.
 */
const sharing = async (
  others: (origin: string) => Said[] = (origin) => [bill(tokenFor(`${origin}/a`))],
  deliver: (visit: Visit) => Said = (visit) => ({ status: 200, body: { by: settlementOf(visit) } }),
) => {
  let shared: string | undefined;
  let left: Said[] | undefined;
  const vendor = await harness.vendor((visit, origin) => {
    if (settlementOf(visit) !== undefined) return deliver(visit);
    shared ??= tokenFor(`${origin}/a`);
    left ??= others(origin);
    return (refusedOf(visit) === undefined ? undefined : left.shift()) ?? bill(shared);
  });
  return { ...vendor, url: `${vendor.origin}/a`, shared: () => shared! };
};
/** The API refuses the vendor's shared quote. */
const refuseShared = (vendor: { shared: () => string }, more: object) => {
  harness.script.settle = (asked) =>
    tokenOf(asked) === vendor.shared() ? refusal(409, 'quote_already_settled', more) : null;
};
const ANOTHERS = { money_moved: 'no', safe_action: 'new_quote' };
const OURS = { money_moved: 'yes', safe_action: 'read_settlement', settlement_id: 'stl_ours' };
const ours = (status: string) => ({ status, payment_attempt_id: 'theirs', redeem_expires_at: 'then' });

describe('a quote paid by another account', () => {
  test('the refused quote is named to the vendor, and its next quote is paid', async () => {
    const vendor = await sharing();
    refuseShared(vendor, ANOTHERS);
    const pay = harness.payer({ budget: { total: 1000n } });
    expect((await pay(vendor.url)).status).toBe(200);
    expect(vendor.visits.map(refusedOf)).toEqual([undefined, idIn(vendor.shared()), undefined]);
    const ids = vendor.visits.map(({ headers }) => headers['x-payment-request-id']);
    expect([ids[0], new Set(ids.slice(1)).size]).toEqual([undefined, 1]);
    expect(harness.paid()).toHaveLength(1);
  });

  test('the call waits if the vendor asks for it, and returns an answer that needs no payment', async () => {
    const wait: Said = {
      status: 503,
      headers: { 'retry-after': '1' },
      body: { error: 'payment_in_progress' },
    };
    const vendor = await sharing(() => [wait, { status: 200, body: 'free' }]);
    refuseShared(vendor, ANOTHERS);
    const answer = await harness.payer()(vendor.url);
    expect([answer.status, await answer.json()]).toEqual([200, 'free']);
    expect(harness.paid()).toEqual([]);
  });

  test('a higher quote is checked against the rules like any other', async () => {
    const vendor = await sharing((origin) => [bill(tokenFor(`${origin}/a`, { quote_amount: '5001' }))]);
    refuseShared(vendor, ANOTHERS);
    expect(await errorOf(harness.payer()(vendor.url))).toBeInstanceOf(PriceAboveCapError);
    expect(harness.paid()).toEqual([]);
  });

  test('a vendor without another quote is called a few times, and nothing is paid or reserved', async () => {
    const vendor = await sharing(() => []);
    refuseShared(vendor, ANOTHERS);
    const pay = harness.payer({ budget: { total: 1000n } });
    expect(await errorOf(pay(vendor.url))).toBeInstanceOf(QuoteTakenError);
    expect(vendor.visits.length).toBeLessThan(10);
    // The other buyer's payment failed.
    harness.script.settle = () => null;
    expect((await pay(vendor.url)).status).toBe(200);
    expect(harness.paid()).toHaveLength(1);
  });

  test('eight concurrent calls of one process each pay their own quote', async () => {
    const vendor = await sharing((origin) => Array.from({ length: 7 }, () => bill(tokenFor(`${origin}/a`))));
    const pay = harness.payer();
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => ((await (await pay(vendor.url)).json()) as { by: string }).by),
    );
    expect(new Set(answers).size).toBe(8);
    // No quote was sent to the API for two calls.
    expect(settles()).toHaveLength(8);
  });
});

describe('a quote paid by another attempt of the same account', () => {
  test('the payment of a crashed process is presented, and nothing is paid', async () => {
    const vendor = await sharing(undefined, (visit) => ({
      status: settlementOf(visit) === 'stl_ours' ? 200 : 500,
    }));
    refuseShared(vendor, OURS);
    harness.script.read = () => ours('issued');
    expect((await harness.payer()(vendor.url, { method: 'POST', body: 'x' })).status).toBe(200);
    expect(harness.paid()).toEqual([]);
  });

  test('a GET that was delivered already gets its stored answer by its own request id', async () => {
    const vendor = await sharing(undefined, ({ headers }) => ({
      status: headers['x-payment-request-id'] === 'theirs' ? 200 : 402,
    }));
    refuseShared(vendor, OURS);
    harness.script.read = () => ours('redeemed');
    expect((await harness.payer()(vendor.url)).status).toBe(200);
    expect(harness.paid()).toEqual([]);
  });

  test('if the payment was delivered to another request, a new quote is paid', async () => {
    const vendor = await sharing(undefined, (visit) => ({
      status: settlementOf(visit) === 'stl_ours' ? 402 : 200,
    }));
    refuseShared(vendor, OURS);
    harness.script.read = () => ours('redeemed');
    const pay = harness.payer({ budget: { total: 1000n } });
    expect((await pay(vendor.url, { method: 'POST', body: 'x' })).status).toBe(200);
    const shown = vendor.visits.find((visit) => settlementOf(visit) === 'stl_ours')!;
    expect(shown.headers['x-payment-request-id']).not.toBe('theirs');
    expect(harness.paid()).toHaveLength(1);
  });

  test('prepaid units serve all calls to the address, each with its own request id', async () => {
    const vendor = await harness.vendor((visit, origin) =>
      settlementOf(visit) === 'stl_ours'
        ? { status: 200 }
        : bill(tokenFor(`${origin}/a`, { scope: { resource: `${origin}/a`, units: 10 } })),
    );
    harness.script.settle = () => refusal(409, 'quote_already_settled', OURS);
    harness.script.read = () => ({ ...ours('redeemed'), units_remaining: 8 });
    const pay = harness.payer();
    for (let i = 0; i < 3; i += 1) expect((await pay(`${vendor.origin}/a?${i}`)).status).toBe(200);
    const names = vendor.visits.filter(settlementOf).map(({ headers }) => headers['x-payment-request-id']);
    expect(new Set(names).size).toBe(3);
    expect(names).not.toContain('theirs');
    expect([settles().length, harness.paid()]).toEqual([1, []]);
  });

  test('if another delegate paid and the vendor has no other quote, PaidElsewhereError is thrown and the record remains', async () => {
    const vendor = await sharing(() => []);
    refuseShared(vendor, OURS);
    const pay = harness.payer({ budget: { total: 1000n } });
    for (let i = 0; i < 2; i += 1) {
      const error = await errorOf(pay(vendor.url));
      expect(error).toBeInstanceOf(PaidElsewhereError);
      expect(error).toMatchObject({ settlementId: 'stl_ours' });
    }
    expect(new Set(settles().map(({ body }) => body!.payment_attempt_id)).size).toBe(1);
    // The budget is still reserved for this purchase.
    const other = await harness.vendor(honest());
    expect(await errorOf(pay(other.origin))).toBeInstanceOf(PriceAboveCapError);
    expect(harness.paid()).toEqual([]);
  });

  test('if another delegate paid and the vendor has another quote, that quote is paid', async () => {
    const vendor = await sharing();
    refuseShared(vendor, OURS);
    expect((await harness.payer()(vendor.url)).status).toBe(200);
    expect(harness.paid()).toHaveLength(1);
  });

  test('if another delegate paid and the vendor notices it later, its next quote is paid', async () => {
    const vendor = await sharing((origin) => [bill(vendor.shared()), bill(tokenFor(`${origin}/a`))]);
    refuseShared(vendor, OURS);
    expect((await harness.payer()(vendor.url)).status).toBe(200);
    expect(harness.paid()).toHaveLength(1);
  });

  test('if the vendor refuses a settlement that has units, nothing more is bought', async () => {
    const vendor = await harness.vendor((_, origin) =>
      bill(tokenFor(`${origin}/a`, { scope: { resource: `${origin}/a`, units: 10 } })),
    );
    harness.script.settle = () => (settles().length > 1 ? null : refusal(409, 'quote_already_settled', OURS));
    harness.script.read = () => ({ ...ours('issued'), units_remaining: 9 });
    const pay = harness.payer();
    for (let i = 0; i < 3; i += 1)
      expect(await errorOf(pay(`${vendor.origin}/a?${i}`))).toBeInstanceOf(NotDeliveredError);
    expect(harness.paid()).toEqual([]);
  });

  test('an attempt of unknown outcome continues with its quote, even if another call of the process pays it', async () => {
    const vendor = await sharing();
    const store = memoryStore();
    const make = (body: string) => [vendor.url, { method: 'POST', body }] as const;
    harness.script.settle = () => refusal(401, 'unauthorized', { money_moved: 'unknown' });
    await errorOf(harness.payer({ store })(...make('x')));
    const [first] = settles();
    const pay = harness.payer({ store });
    await errorOf(pay(...make('y')));
    harness.script.settle = () => null;
    expect((await pay(...make('x'))).status).toBe(200);
    expect(settles().at(-1)!.body).toEqual(first!.body);
    expect(harness.paid()).toHaveLength(1);
  });

  test('an attempt from the store is never replaced, because another key may have paid for the same request', async () => {
    const vendor = await sharing();
    harness.script.settle = () => refusal(401, 'unauthorized', { money_moved: 'unknown' });
    const pay = harness.payer();
    expect(await errorOf(pay(vendor.url))).toBeInstanceOf(ApiError);
    refuseShared(vendor, OURS);
    for (let i = 0; i < 2; i += 1) expect(await errorOf(pay(vendor.url))).toBeInstanceOf(PaidElsewhereError);
    expect(harness.paid()).toEqual([]);
  });
});
