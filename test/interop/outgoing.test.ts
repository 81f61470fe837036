import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Keypair, VersionedTransaction } from '@solana/web3.js';
import { type Consumer, createDelegate, type Delegate } from '../../deploy/local/seed/actors.ts';
import { type Api, must } from '../../deploy/local/seed/api.ts';
import { NotDeliveredError, payingFetch, receiptOf } from '../../sdk/src/pay/main.ts';
import {
  type OutgoingPayment,
  type Price,
  payExternal,
  payloadOf,
  present,
  priceOf,
  transactionOf,
} from '../support/actors/outgoing.ts';
import { waitFor } from '../support/base/wait.ts';
import { INSTALL_MS, type InteropServer } from '../support/others/interop.ts';
import type { interopStack } from '../support/others/interop-stack.ts';
import {
  balancesOf,
  buy,
  delegateFor,
  ended,
  HELD,
  LIMITS,
  NOTHING,
  PRICE,
  PROVEN_MS,
  type Settlement,
  SPENT,
  settlementOf,
  startAt,
  startOutgoing,
  startVendor,
  stopLater,
  stopOutgoing,
  usageOf,
  type Vendor,
} from '../support/others/outgoing-stack.ts';
import { startVendorV1 } from '../support/others/vendor-v1.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

/**
 * Outgoing payments to unmodified vendors of x402, whose facilitator is the unmodified reference,
 * with a scripted behaviour in front of its settle. The buyer has a delegate key and plain HTTP.
 */
const stack = runningStack();
let api: Api;
let interop: ReturnType<typeof interopStack>;
let facilitator: InteropServer;
let feePayer: Keypair;
let owner: Consumer;
beforeAll(async () => {
  ({ api, interop, facilitator, feePayer, owner } = await startOutgoing(
    stack,
    path.dirname(process.env.STACK_FILE!),
  ));
  // `names-another` needs a payment that it can name.
  await startVendor('honest').then(buy);
  for (const behaviour of SLOW) {
    const run = buyToTheEnd(behaviour);
    run.catch(() => {});
    runs.set(behaviour, run);
  }
}, INSTALL_MS);
afterAll(stopOutgoing);

/** Behaviours whose payments are open until a blockhash expires, or nearly. They run at once. */
const SLOW = ['never-sends', 'lies', 'names-another', 'sends-late', 'denies-payment'];
const runs = new Map<string, ReturnType<typeof buyToTheEnd>>();
const buyToTheEnd = async (behaviour: string) => {
  const vendor = await startVendor(behaviour);
  const bought = await buy(vendor);
  return { vendor, bought, end: await ended(bought) };
};

test.each([
  ['honest', 'vendor-express'],
  ['honest', 'vendor-hono'],
  ['waits', 'vendor-express'],
] as const)('%s facilitator, %s: the payment is delivered and recorded', async (behaviour, name) => {
  const vendor = await startVendor(behaviour, name);
  const bought = await buy(vendor);
  const { delivery, report, payment } = bought;
  expect(delivery).toMatchObject({ status: 200, receipt: expect.any(String) });
  expect(vendor.server.delivered()).toBe(1);
  const { settlement, usage } = await ended(bought);
  const tx_hash = transactionOf(delivery.receipt);
  expect(settlement).toMatchObject({ status: 'issued', rail: 'x402_out', service_id: null, tx_hash });
  expect(settlement.payees).toEqual([{ address: vendor.payTo, amount: `${PRICE}` }]);
  expect(report).toMatchObject({ status: 'confirmed', tx_hash });
  expect(usage).toEqual(SPENT);
  expect(await balancesOf(vendor)).toEqual([vendor.payTo, PRICE]);
  expect((await bought.ask()).body).toMatchObject({ ...payment, status: 'confirmed', tx_hash });
});

test('the bytes are one transfer by the delegated authority with an empty slot of the fee payer', async () => {
  const vendor = await startVendor('never-sends');
  const { payment, price } = await buy(vendor);
  const { payload, ...rest } = payloadOf(payment.payment_signature);
  expect(rest).toEqual({
    x402Version: 2,
    resource: { url: price.resource },
    accepted: price.requirement,
  });
  expect(payload).toEqual({ transaction: payment.transaction });
  const { message, signatures } = VersionedTransaction.deserialize(
    Buffer.from(payment.transaction, 'base64'),
  );
  expect(message.version).toBe(0);
  expect(message.staticAccountKeys.slice(0, 2).map(String)).toEqual([
    feePayer.publicKey.toBase58(),
    owner.view.delegation.delegate,
  ]);
  expect(signatures.map((signature) => signature.some((byte) => byte !== 0))).toEqual([false, true]);
});

test.each(['never-sends', 'lies', 'names-another'])(
  'a facilitator that %s: the amount is held until the bytes can no longer be included',
  async (behaviour) => {
    const { vendor, bought, end } = await runs.get(behaviour)!;
    const isDenied = behaviour === 'never-sends';
    expect(bought.delivery.status).toBe(isDenied ? 402 : 200);
    expect(bought.report).toEqual({
      settlement_id: bought.payment.settlement_id,
      status: 'pending',
      tx_hash: null,
    });
    const { settlement, usage, pendingReads } = end;
    expect(pendingReads).toBeGreaterThan(3);
    expect(settlement).toMatchObject({ status: 'failed', tx_hash: null });
    expect(usage).toEqual(NOTHING);
    expect(await bought.ask()).toMatchObject({
      body: { error: { code: 'payment_failed', money_moved: 'no' } },
    });
    // The proof is true: the same bytes are worthless now.
    const { payment_signature } = bought.payment;
    expect((await present(bought.price, payment_signature)).status).toBe(402);
    expect(await balancesOf(vendor)).toEqual([vendor.payTo, 0n]);
  },
  PROVEN_MS + 30_000,
);

test.each(['sends-late', 'denies-payment'])(
  'a facilitator that %s: what the vendor refused is recorded as spent',
  async (behaviour) => {
    const { vendor, bought, end } = await runs.get(behaviour)!;
    expect(bought.delivery.status).toBe(402);
    const { settlement, usage } = end;
    expect(settlement).toMatchObject({ status: 'issued', tx_hash: expect.any(String) });
    expect(usage).toEqual(SPENT);
    expect(await balancesOf(vendor)).toEqual([vendor.payTo, PRICE]);
    expect(facilitator.output()).toContain(settlement.tx_hash);
  },
  PROVEN_MS + 30_000,
);

/** Calls the reference facilitator as a vendor does. */
const atReference = async (
  operation: 'verify' | 'settle',
  price: Price,
  { payment_signature }: OutgoingPayment,
) => {
  const response = await fetch(`${facilitator.url}/honest/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      x402Version: price.version,
      paymentPayload: payloadOf(payment_signature),
      paymentRequirements: price.requirement,
    }),
  });
  return (await response.json()) as Record<string, unknown>;
};

test('version 2, version 1 and a required memo: the reference verifies and settles the bytes', async () => {
  const { chain } = interop;
  const vendor = await startVendor('honest');
  const { payTo } = vendor;
  const old = stopLater(
    await startVendorV1({
      ...{ facilitatorUrl: `${facilitator.url}/honest`, payTo, mint: chain.mint, amount: PRICE },
      feePayer: feePayer.publicKey.toBase58(),
    }),
  );
  const [v2, v1] = [await priceOf(vendor.server.url), await priceOf(old.url)];
  const { requirement } = v2;
  const memo = { ...requirement, extra: { ...(requirement.extra as object), memo: 'order 1042' } };
  const delegate = await delegateFor([payTo]);
  let paid = 0n;
  /** Nobody reports the payment: chain-submitter sees it in the history of the wallet. */
  const isSeen = async () => {
    paid += PRICE;
    expect(await chain.balance(payTo)).toBe(paid);
    const spent = { held: '0', spent: `${paid}` };
    await waitFor(
      () => usageOf(delegate),
      (usage) => JSON.stringify(usage) === JSON.stringify(spent),
    );
  };
  for (const price of [v2, v1, { ...v2, requirement: memo }]) {
    const payment = await must(payExternal(api, delegate.api_key, price), 'pay');
    expect(await atReference('verify', price, payment)).toMatchObject({
      isValid: true,
      payer: owner.view.delegation.delegate,
    });
    expect(await atReference('settle', price, payment)).toMatchObject({ success: true });
    await isSeen();
  }
  // And the whole way with a vendor of version 1.
  const payment = await must(payExternal(api, delegate.api_key, v1), 'pay');
  expect(await present(v1, payment.payment_signature)).toMatchObject({ status: 200 });
  await isSeen();
});

test('our buyer at our facilitator: both sides see the same transaction, and it is paid once', async () => {
  const { facilitator: ours, payTo } = await interop.newVendor();
  const { url: facilitatorUrl, serviceKey } = ours;
  const before = await interop.chain.balance(owner.wallet.publicKey.toBase58());
  const vendor = await startAt('vendor-express', { facilitatorUrl, serviceKey, payTo });
  const bought = await buy(vendor);
  expect(bought.delivery).toMatchObject({ status: 200 });
  const { settlement, usage } = await ended(bought);
  expect(settlement).toMatchObject({ status: 'issued', tx_hash: transactionOf(bought.delivery.receipt) });
  expect(usage).toEqual(SPENT);
  expect(await balancesOf(vendor)).toEqual([payTo, PRICE]);
  expect(await interop.chain.balance(owner.wallet.publicKey.toBase58())).toBe(before - PRICE);
  const sold = await waitFor(
    () =>
      must(
        api<{ data: Settlement[] }>('GET /v1/settlements?rail=x402', { token: serviceKey }),
        'list of the vendor',
      ),
    ({ data }) => data[0]?.status === 'redeemed',
  );
  expect(sold.data).toMatchObject([{ tx_hash: settlement.tx_hash }]);
});

/** The SDK's client with a key of its own. */
const payingFor = async ({ payTo }: Vendor) => {
  const delegate = await delegateFor([payTo]);
  const baseUrl = stack.gateway_url;
  return {
    delegate,
    pay: payingFetch(fetch, { baseUrl, delegateKey: delegate.api_key, maxAmount: PRICE }),
  };
};

test('payingFetch pays a stock vendor and returns what it cost', async () => {
  const vendor = await startVendor('honest', 'vendor-hono');
  const { pay, delegate } = await payingFor(vendor);
  const response = await pay(vendor.server.url);
  expect([response.status, await response.json()]).toEqual([200, { delivery: 1 }]);
  const tx_hash = transactionOf(response.headers.get('payment-response'));
  expect(receiptOf(response)).toMatchObject({
    ...{ rail: 'x402_out', amountMicro: `${PRICE}`, vendorAddress: vendor.payTo, transaction: tx_hash },
  });
  await waitFor(
    () => usageOf(delegate),
    ({ held }) => held === '0',
  );
  expect(await usageOf(delegate)).toEqual(SPENT);
});

test('payingFetch: a vendor that answers 402 after it was paid is named with the transaction, and never paid again', async () => {
  const vendor = await startVendor('denies-payment');
  const { pay, delegate } = await payingFor(vendor);
  const buyOnce = () => pay(vendor.server.url, { paymentKey: 'once' }).catch((error: unknown) => error);
  const error = await buyOnce();
  expect(error).toBeInstanceOf(NotDeliveredError);
  const { settlementId, txHash } = error as NotDeliveredError;
  expect((error as Error).message).toContain(txHash);
  expect(facilitator.output()).toContain(txHash);
  expect(await settlementOf(settlementId)).toMatchObject({ tx_hash: txHash });
  expect(await buyOnce()).toMatchObject({ name: 'NotDeliveredError', settlementId, txHash });
  expect(await balancesOf(vendor)).toEqual([vendor.payTo, PRICE]);
  expect(await usageOf(delegate)).toEqual(SPENT);
});

test('payingFetch: a vendor that refuses the payment and sends nothing may still use it', async () => {
  const vendor = await startVendor('never-sends');
  const { pay, delegate } = await payingFor(vendor);
  const error = await pay(vendor.server.url).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'PaymentOpenError', settlementId: expect.any(String) });
  expect(await usageOf(delegate)).toEqual(HELD);
});

/** Its code, if an answer is a refusal; else its status. */
const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) =>
  body.error?.code ?? status;

test('who and what may not pay is refused, and nothing is signed', async () => {
  const vendor = await startVendor('never-sends');
  const { payTo } = vendor;
  const price = await priceOf(vendor.server.url);
  const other = await interop.chain.payee();
  const refused = async (delegate: Delegate, of = price) => {
    const answer = await payExternal(api, delegate.api_key, of);
    expect(await usageOf(delegate)).toEqual(NOTHING);
    return codeOf(answer);
  };
  const origins = { external: { pay_to: 'any', origins: ['https://api.example.com'] } };
  expect(await refused(await createDelegate(api, owner, LIMITS))).toBe('forbidden');
  expect(await refused(await delegateFor([other]))).toBe('forbidden');
  expect(await refused(await createDelegate(api, owner, LIMITS, origins))).toBe('forbidden');
  const small = `${PRICE - 1n}`;
  for (const limits of [{ per_payment: small }, { daily: small }, { monthly: small }, { total: small }])
    expect(await refused(await delegateFor('any', limits))).toBe('limit_exceeded');
  const any = await delegateFor('any');
  const { requirement } = price;
  const to = (fields: object) => ({ ...price, requirement: { ...requirement, ...fields } });
  const own = owner.wallet.publicKey.toBase58();
  expect(await refused(any, to({ payTo: own }))).toBe('validation_error');
  expect(await refused(any, to({ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }))).toBe(
    'validation_error',
  );
  expect(await refused(any, to({ asset: other }))).toBe('validation_error');
  expect(await refused(any, to({ extra: { feePayer: own } }))).not.toBe(200);
  expect(await refused(any, to({ payTo: stack.environments.test!.fee_wallet }))).not.toBe(200);
  expect(await interop.chain.balance(payTo)).toBe(0n);
});

test('at most two payments to an address, and five of a key, are open at once', async () => {
  const vendor = await startVendor('never-sends');
  const price = await priceOf(vendor.server.url);
  const addresses = [vendor.payTo, ...(await atOnce(2, () => interop.chain.payee()))];
  const delegate = await delegateFor('any');
  const at = (payTo: string) => ({ ...price, requirement: { ...price.requirement, payTo } });
  const answers = [];
  for (const payTo of [...addresses, ...addresses, ...addresses])
    answers.push(codeOf(await payExternal(api, delegate.api_key, at(payTo))));
  expect(answers).toEqual([200, 200, 200, 200, 200, ...Array(4).fill('limit_exceeded')]);
  const second = await delegateFor('any');
  expect(codeOf(await payExternal(api, second.api_key, at(vendor.payTo)))).toBe('limit_exceeded');
  expect(await usageOf(delegate)).toEqual({ held: `${5n * PRICE}`, spent: '0' });
  await waitFor(
    () => usageOf(delegate),
    ({ held }) => held === '0',
    PROVEN_MS,
  );
  expect(await usageOf(delegate)).toEqual(NOTHING);
});
