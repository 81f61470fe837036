import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DELEGATE_KEY } from '../../../../test/support/base/keys.ts';
import { withoutPauses } from '../../../../test/support/base/skipped-pauses.ts';
import { waitUntil } from '../../../../test/support/base/wait.ts';
import { refusal } from '../../../../test/support/stand-ins/scripted-server.ts';
import {
  bill,
  errorOf,
  type Harness,
  honest,
  honestX402,
  presentedIn,
  requirement,
  SERVICE,
  SERVICE_WALLET,
  settlementOf,
  startHarness,
  TRANSACTION,
  tokenFor,
  type Visit,
  x402Bill,
  x402BillV1,
  x402Delivery,
} from '../../../../test/support/stand-ins/scripted-vendors.ts';
import { ApprovalDeniedError, ApprovalRequiredError, ForbiddenError, NoAnswerError } from '../../main.ts';
import {
  memoryStore,
  NotAllowedError,
  NotDeliveredError,
  PaymentOpenError,
  type PaymentStore,
  PriceAboveCapError,
  receiptOf,
} from '../main.ts';

/** Payments to vendors of x402 that do not use Quittance. */

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.stop());

const asksOf = (path: string) => harness.api.asked.filter(({ call }) => call === path);
const signs = () => asksOf('POST /v1/payments');
const reports = () => harness.api.asked.filter(({ call }) => call.endsWith('/report'));
const shown = ({ visits }: { visits: Visit[] }) =>
  visits.map(presentedIn).filter((each) => each !== undefined);
const refused = (code: string, more: object) => refusal(403, code, { money_moved: 'no', ...more });

const watched = () => {
  const store = memoryStore();
  const names = new Set<string>();
  const held = async () => (await Promise.all([...names].map((name) => store.load(name)))).flat();
  const save: PaymentStore['save'] = (name, record) => {
    names.add(name);
    return store.save(name, record);
  };
  return { store: { ...store, save }, held };
};

describe('a 402 of x402', () => {
  test('is paid once, delivered and reported, and no record remains', async () => {
    const { store, held } = watched();
    const vendor = await harness.vendor(honestX402());
    const answer = await harness.payer({ store })(`${vendor.origin}/a?q=secret#x`);
    expect(await answer.json()).toEqual({ delivered: true });
    expect(signs()).toHaveLength(1);
    const { payment_attempt_id } = signs()[0]!.body!;
    expect(signs()[0]).toMatchObject({
      token: DELEGATE_KEY,
      body: { resource: `${vendor.origin}/a`, x402_version: 2, requirement: requirement() },
    });
    expect(vendor.visits.map(({ path, headers }) => [path, headers['payment-signature']])).toEqual([
      ['/a?q=secret', undefined],
      ['/a?q=secret', `signed-${payment_attempt_id}`],
    ]);
    expect(receiptOf(answer)).toEqual({
      settlementId: harness.signed()[0],
      rail: 'x402_out',
      amountMicro: '1000',
      quoteId: null,
      serviceId: null,
      vendorName: new URL(vendor.origin).host,
      vendorAddress: SERVICE_WALLET,
      payees: [{ address: SERVICE_WALLET, amount: '1000' }],
      transaction: TRANSACTION,
      confirmed: false,
    });
    await waitUntil(async () => (await held()).length === 0);
    expect(reports()).toHaveLength(1);
    expect(reports()[0]!.call).toBe(`POST /v1/payments/${harness.signed()[0]}/report`);
  });

  test('of version 1 is paid with X-PAYMENT', async () => {
    const { amount, ...rest } = requirement({ network: 'solana-devnet' });
    const v1 = { ...rest, maxAmountRequired: amount };
    const vendor = await harness.vendor((visit) =>
      presentedIn(visit) === undefined ? x402BillV1(v1) : { status: 200, body: {} },
    );
    const answer = await harness.payer()(vendor.origin);
    expect(answer.status).toBe(200);
    expect(signs()[0]!.body).toMatchObject({ x402_version: 1, requirement: v1 });
    expect(vendor.visits[1]!.headers).toHaveProperty('x-payment');
    expect(vendor.visits[1]!.headers).not.toHaveProperty('payment-signature');
    expect(receiptOf(answer)).toMatchObject({ amountMicro: '1000', transaction: null });
  });

  test('beside a quote is paid by the quote', async () => {
    const vendor = await harness.vendor((visit, origin) => {
      const { body } = bill(tokenFor(`${origin}/a`)) as { body: object };
      return settlementOf(visit) === undefined
        ? { ...x402Bill(requirement()), body }
        : honest()(visit, origin);
    });
    const answer = await harness.payer()(`${vendor.origin}/a`);
    expect(signs()).toEqual([]);
    expect(receiptOf(answer)).toEqual({
      settlementId: harness.paid()[0]!.settlement_id,
      rail: 'quittance',
      amountMicro: '1000',
      quoteId: expect.stringMatching(/^q_/),
      serviceId: SERVICE,
      vendorName: 'Weather API',
      vendorAddress: expect.any(String),
      payees: [{ address: expect.any(String), amount: '1000' }],
      transaction: 'h',
      confirmed: true,
    });
  });

  test('with several offers: the cheapest one that the API can pay', async () => {
    const payable = requirement({ amount: '900' });
    const vendor = await harness.vendor((visit) =>
      presentedIn(visit) === undefined
        ? x402Bill(
            null,
            'x',
            requirement({ scheme: 'upto', amount: '1' }),
            requirement({ network: 'eip155:8453', amount: '1' }),
            requirement(),
            payable,
            requirement({ amount: '900', payTo: requirement().asset }),
          )
        : x402Delivery(),
    );
    expect((await harness.payer()(vendor.origin)).status).toBe(200);
    expect(signs()[0]!.body).toMatchObject({ requirement: payable });
  });

  test('is returned unchanged with x402: false, and without a network of the API', async () => {
    const vendor = await harness.vendor(honestX402());
    const answer = await harness.payer({ x402: false })(vendor.origin);
    expect(answer.status).toBe(402);
    expect(receiptOf(answer)).toBeNull();
    expect(harness.api.asked).toEqual([]);
    harness.script.network = () => ({ status: 200, body: { environments: { live: {} } } });
    expect((await harness.payer()(vendor.origin)).status).toBe(402);
    expect(signs()).toEqual([]);
  });

  test('caps, lists and approve apply to its price', async () => {
    const vendor = await harness.vendor(honestX402({ amount: '5001' }));
    const dear = harness.payer()(vendor.origin);
    expect(await errorOf(dear)).toMatchObject({
      name: 'PriceAboveCapError',
      quote: { quote_amount: '5001' },
    });
    const total = harness.payer({ maxAmount: 10_000n, budget: { total: 6000n } });
    expect((await total(vendor.origin)).status).toBe(200);
    expect(await errorOf(total(vendor.origin))).toBeInstanceOf(PriceAboveCapError);
    for (const allow of [{ origins: [] }, { mints: [SERVICE_WALLET] }, { serviceIds: ['a'] }])
      expect(await errorOf(harness.payer({ maxAmount: 10_000n, allow })(vendor.origin))).toBeInstanceOf(
        NotAllowedError,
      );
    const asked: unknown[] = [];
    const approve = (price: object) => asked.push(price) > 1;
    const asking = harness.payer({ maxAmount: 10_000n, approve });
    expect(await errorOf(asking(vendor.origin))).toBeInstanceOf(NotAllowedError);
    expect(asked[0]).toMatchObject({
      quote_amount: '5001',
      payout_address: SERVICE_WALLET,
      service_id: null,
    });
    expect(signs()).toHaveLength(1);
  });

  test.each(['x402', 'a quote'])('%s: a call may have a lower maximum and its own approval', async (kind) => {
    const vendor = await harness.vendor(kind === 'x402' ? honestX402() : honest());
    const pay = harness.payer({ approve: () => false });
    const own = (maxAmount: bigint) => pay(vendor.origin, { maxAmount, approve: () => true });
    expect(await errorOf(own(999n))).toBeInstanceOf(PriceAboveCapError);
    expect((await own(1000n)).status).toBe(200);
    expect(await errorOf(pay(vendor.origin))).toBeInstanceOf(NotAllowedError);
    const dear = await harness.vendor(
      kind === 'x402' ? honestX402({ amount: '5001' }) : honest({ quote_amount: '5001' }),
    );
    const more = pay(dear.origin, { maxAmount: 10_000n, approve: () => true });
    expect(await errorOf(more)).toBeInstanceOf(PriceAboveCapError);
  });

  test('that the delegate may not pay fails with the API’s refusal, and the next call is a new attempt', async () => {
    harness.script.sign = () => refused('forbidden', { safe_action: 'stop' });
    const { store, held } = watched();
    const vendor = await harness.vendor(honestX402());
    const pay = harness.payer({ store, budget: { total: 1000n } });
    for (let i = 0; i < 2; i += 1) expect(await errorOf(pay(vendor.origin))).toBeInstanceOf(ForbiddenError);
    expect(new Set(signs().map(({ body }) => body!.payment_attempt_id)).size).toBe(2);
    expect(await held()).toEqual([]);
  });
});

describe('the same payment is presented again', () => {
  test.each(['no answer', 'a 500'])('after %s, in another process', async (what) => {
    const { store, held } = watched();
    let visit = 0;
    const vendor = await harness.vendor((seen) => {
      if (presentedIn(seen) === undefined) return x402Bill(requirement());
      visit += 1;
      if (visit > 1) return x402Delivery();
      return what === 'no answer' ? 'lost' : { status: 500 };
    });
    const first = harness.payer({ store })(vendor.origin, { paymentKey: 'k' });
    if (what === 'no answer') expect(await errorOf(first)).toMatchObject({ name: 'TypeError' });
    else expect((await first).status).toBe(500);
    expect(await held()).toHaveLength(1);
    expect((await harness.payer({ store })(vendor.origin, { paymentKey: 'k' })).status).toBe(200);
    expect(new Set(shown(vendor)).size).toBe(1);
    expect(shown(vendor)).toHaveLength(2);
    expect(harness.signed()).toHaveLength(1);
  });

  test('after the API did not answer, with the same attempt', async () => {
    harness.script.sign = () => 'lost';
    const vendor = await harness.vendor(honestX402());
    const pay = harness.payer();
    expect(await withoutPauses(() => errorOf(pay(vendor.origin)))).toBeInstanceOf(NoAnswerError);
    harness.script.sign = () => null;
    expect((await pay(vendor.origin)).status).toBe(200);
    expect(new Set(signs().map(({ body }) => body!.payment_attempt_id)).size).toBe(1);
  });

  test('a payment that has failed for good is replaced by a new one', async () => {
    let paying = 0;
    const vendor = await harness.vendor((visit) => {
      if (presentedIn(visit) === undefined) return x402Bill(requirement());
      paying += 1;
      return paying === 1 ? { status: 503 } : x402Delivery();
    });
    const pay = harness.payer({ budget: { total: 1000n } });
    await pay(vendor.origin);
    const [first] = signs();
    harness.script.sign = ({ body }) =>
      body!.payment_attempt_id === first!.body!.payment_attempt_id
        ? refusal(402, 'payment_failed', { money_moved: 'no', safe_action: 'new_quote' })
        : null;
    expect((await pay(vendor.origin)).status).toBe(200);
    expect(shown(vendor)).toHaveLength(2);
    expect(new Set(shown(vendor)).size).toBe(2);
  });
});

describe('a 402 after the payment was presented', () => {
  const outcome =
    (status: string, tx_hash: string | null = null) =>
    () => ({
      status: 200,
      body: { settlement_id: 's', status, tx_hash },
    });
  const greedy = () => harness.vendor(() => x402Bill(requirement()));

  test('paid on chain: NotDeliveredError with the transaction, and nothing more is signed', async () => {
    harness.script.report = outcome('confirmed', TRANSACTION);
    const vendor = await greedy();
    const pay = harness.payer();
    for (let i = 0; i < 3; i += 1) {
      const error = await errorOf(pay(vendor.origin));
      expect(error).toBeInstanceOf(NotDeliveredError);
      expect(error).toMatchObject({ settlementId: harness.signed()[0], txHash: TRANSACTION });
    }
    expect(harness.signed()).toHaveLength(1);
  });

  test('still open: PaymentOpenError names the settlement, and the next call presents the same bytes', async () => {
    const vendor = await greedy();
    const pay = harness.payer();
    for (let i = 0; i < 3; i += 1) {
      const error = await errorOf(pay(vendor.origin, { paymentKey: 'k' }));
      expect(error).toBeInstanceOf(PaymentOpenError);
      expect(error).toMatchObject({ settlementId: harness.signed()[0], quote: { quote_amount: '1000' } });
      expect((error as Error).message).toMatch(/0\.001 USDC stay reserved/);
    }
    expect(shown(vendor)).toHaveLength(3);
    expect(new Set(shown(vendor)).size).toBe(1);
    // Without an answer of the API the outcome is open, too.
    harness.script.report = () => refusal(404, 'not_found');
    expect(await errorOf(pay(vendor.origin, { paymentKey: 'k' }))).toBeInstanceOf(PaymentOpenError);
    expect(harness.signed()).toHaveLength(1);
  });

  test('failed for good: a resumed payment is replaced once, and then the 402 is returned', async () => {
    const vendor = await greedy();
    const pay = harness.payer();
    await errorOf(pay(vendor.origin));
    harness.script.report = outcome('failed');
    expect((await pay(vendor.origin)).status).toBe(402);
    expect(harness.signed()).toHaveLength(2);
    expect((await pay(vendor.origin)).status).toBe(402);
    expect(harness.signed()).toHaveLength(3);
  });
});

describe('approval by the owner', () => {
  const waiting = { safe_action: 'await_approval', approval_id: 'apr_1' };

  test.each(['x402', 'a quote'])('%s: the repeat goes on with the same attempt', async (kind) => {
    const isIncoming = kind === 'x402';
    const answer = () => refused('approval_required', waiting);
    if (isIncoming) harness.script.sign = answer;
    else harness.script.settle = answer;
    const vendor = await harness.vendor(isIncoming ? honestX402() : honest());
    const pay = harness.payer({ budget: { total: 1000n } });
    for (let i = 0; i < 2; i += 1) {
      const error = await errorOf(pay(vendor.origin, { paymentKey: 'k' }));
      expect(error).toBeInstanceOf(ApprovalRequiredError);
      expect(error).toMatchObject({ approvalId: 'apr_1', safeAction: 'await_approval', moneyMoved: 'no' });
    }
    harness.script.sign = () => null;
    harness.script.settle = () => null;
    expect((await pay(vendor.origin, { paymentKey: 'k' })).status).toBe(200);
    const paths = isIncoming ? signs() : asksOf('POST /v1/settle');
    expect(paths).toHaveLength(3);
    expect(new Set(paths.map(({ body }) => body!.payment_attempt_id)).size).toBe(1);
  });

  test('while a payment waits, it holds nothing of the budget', async () => {
    harness.script.sign = () => refused('approval_required', waiting);
    const vendor = await harness.vendor(honestX402());
    const pay = harness.payer({ budget: { total: 1000n } });
    expect(await errorOf(pay(`${vendor.origin}/a`, { paymentKey: 'a' }))).toBeInstanceOf(
      ApprovalRequiredError,
    );
    harness.script.sign = () => null;
    expect((await pay(`${vendor.origin}/b`)).status).toBe(200);
  });

  test.each(['x402', 'a quote'])('%s: what was denied stays denied for its key', async (kind) => {
    const denied = () => refused('approval_denied', { safe_action: 'stop', approval_id: 'apr_1' });
    harness.script.sign = denied;
    harness.script.settle = denied;
    const vendor = await harness.vendor(kind === 'x402' ? honestX402() : honest());
    const pay = harness.payer();
    for (let i = 0; i < 2; i += 1)
      expect(await errorOf(pay(vendor.origin, { paymentKey: 'k' }))).toBeInstanceOf(ApprovalDeniedError);
    const paths = [...signs(), ...asksOf('POST /v1/settle')];
    expect(new Set(paths.map(({ body }) => body!.payment_attempt_id)).size).toBe(1);
  });

  test('an expired approval of a quote is requested again with a new quote', async () => {
    harness.script.settle = () => refused('approval_required', waiting);
    const vendor = await harness.vendor(honest());
    const pay = harness.payer();
    await errorOf(pay(vendor.origin, { paymentKey: 'k' }));
    const [first] = asksOf('POST /v1/settle');
    harness.script.settle = ({ body }) =>
      body!.payment_attempt_id === first!.body!.payment_attempt_id
        ? refusal(410, 'approval_expired', { money_moved: 'no', safe_action: 'new_quote' })
        : null;
    expect((await pay(vendor.origin, { paymentKey: 'k' })).status).toBe(200);
  });
});

test('a report that fails does not fail the delivery, and is repeated by the next process', async () => {
  const { store, held } = watched();
  harness.script.report = () => 'lost';
  const vendor = await harness.vendor(honestX402());
  expect((await harness.payer({ store })(vendor.origin)).status).toBe(200);
  expect(await held()).toHaveLength(1);
  harness.script.report = () => null;
  expect((await harness.payer({ store })(vendor.origin)).status).toBe(200);
  await waitUntil(async () => (await held()).length === 0);
  expect(harness.signed()).toHaveLength(2);
});

test.each([400, 404, 413])(
  'a %i without a statement of the vendor is neither a delivery nor a payment',
  async (status) => {
    const vendor = await harness.vendor((visit) =>
      presentedIn(visit) === undefined ? x402Bill(requirement()) : { status },
    );
    const paid: unknown[] = [];
    const pay = harness.payer({ onPaid: (receipt) => paid.push(receipt) });
    expect(await errorOf(pay(vendor.origin))).toBeInstanceOf(PaymentOpenError);
    expect(paid).toEqual([]);
    // The next equal request presents the same payment.
    await errorOf(pay(vendor.origin));
    expect(harness.signed()).toHaveLength(1);
  },
);
