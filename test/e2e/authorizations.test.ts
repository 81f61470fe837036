import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createConsumer, createVendor } from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { refund } from '../../deploy/local/seed/transfers.ts';
import { connectDatabases } from '../../deploy/local/servers/every-database.ts';
import { createClient, exportAccount, verifyReceipt } from '../../sdk/src/main.ts';
import { CEILING, type Tab, tabCalls } from '../support/actors/tab-calls.ts';
import { createTabHarness, refusal, type TabHarness } from '../support/actors/tab-harness.ts';
import { waitFor } from '../support/base/wait.ts';
import { chainOf } from '../support/servers/chain.ts';
import { atOnce, runningStack, tally } from '../support/servers/stack.ts';

/** Authorize, use, capture through the public API, over the whole system and the chain. */
const stack = runningStack();
const chain = chainOf(stack.environments.test!);
const database = connectDatabases(stack.postgres_urls, { max: 1 });

let harness: TabHarness;
let { api, buyer, calls, open, untilStatus, eventsOf }: TabHarness = {} as never;
beforeAll(async () => {
  harness = await createTabHarness(stack);
  ({ api, buyer, calls, open, untilStatus, eventsOf } = harness);
});
afterAll(async () => {
  await harness.stop();
  await database.end();
});

/** The window of an authorization ends now. The shortest one is a minute. */
const endWindow = ({ settlement_id }: Tab) =>
  database.query('update settlement.authorizations set due_at = now() where settlement_id = $1', [
    settlement_id,
  ]);
const balance = () => chain.balance(buyer.wallet.publicKey);

test('a ceiling is authorized at once and without a transaction, and a repeat gets the same answer', async () => {
  const before = await balance();
  const quote = await calls.quote({ unit_price: '250', capture_window_seconds: 60 });
  expect(quote).toMatchObject({
    quote_amount: `${CEILING}`,
    max_amount: `${CEILING}`,
    capture: { mode: 'usage', unit_price: '250', window_seconds: 60, threshold: null },
  });
  const attempt = crypto.randomUUID();
  const first = await calls.authorize(buyer.token, quote, attempt);
  expect(first).toMatchObject({
    status: 200,
    body: { status: 'authorized', tx_hash: null, max_amount: `${CEILING}` },
  });
  const again = await calls.authorize(buyer.token, quote, attempt);
  expect(again.body).toEqual(first.body);
  const tab = first.body;
  expect(await calls.verify(tab)).toMatchObject({
    status: 'authorized',
    chain_status: 'none',
    authorization: { used: '0', left: `${CEILING}`, at_risk_at: null },
  });
  expect(refusal(await calls.redeem(tab))).toEqual([
    409,
    'conflict',
    expect.stringContaining('report what is used with usage, and capture it'),
  ]);
  expect((await calls.consume(tab)).status).toBe(409);
  const receipt = await api(`GET /v1/settlements/${tab.settlement_id}/receipt`, { token: buyer.token });
  expect(receipt.status).toBe(409);
  expect(await calls.voidIt(tab)).toMatchObject({ status: 200, body: { status: 'voided', used: '0' } });
  expect((await calls.voidIt(tab)).status).toBe(200);
  expect(refusal(await calls.use(tab, { usage_id: 'late', amount: '1' }))).toEqual([
    409,
    'authorization_closed',
    expect.stringContaining('voided'),
  ]);
  // The claim of the quote is released with it, so the buyer may authorize it anew.
  expect((await calls.authorize(buyer.token, quote)).body).toMatchObject({ status: 'authorized' });
  expect(await balance()).toBe(before);
});

describe('use', () => {
  test('counts once by its id, alone or in a batch, and never beyond the ceiling', async () => {
    const tab = await open({ unit_price: '250' });
    const one = { usage_id: 'one', amount: '120000', reason: 'GET /chat' };
    const first = await calls.use(tab, one);
    expect(first).toMatchObject({ status: 200, body: { used: '120000', left: '380000' } });
    expect(
      await calls.use(tab, {
        usages: [
          { usage_id: 'two', units: 4 },
          { usage_id: 'three', amount: '1' },
        ],
      }),
    ).toMatchObject({ body: { used: '121001', left: '378999' } });
    expect((await calls.use(tab, one)).body).toEqual(first.body);
    expect(refusal(await calls.use(tab, { ...one, amount: '120001' }))).toEqual([
      409,
      'conflict',
      expect.stringContaining('another amount'),
    ]);
    // All uses of a call, or none.
    const beyond = {
      usages: [
        { usage_id: 'four', amount: '1' },
        { usage_id: 'five', amount: '378999' },
      ],
    };
    expect(refusal(await calls.use(tab, beyond))).toEqual([
      409,
      'usage_exceeds_authorization',
      'used 121001 of 500000, so 378999 are left; this call reports 379000',
    ]);
    expect((await calls.verify(tab)).authorization).toMatchObject({ used: '121001', left: '378999' });
    const answers = await atOnce(32, (i) =>
      calls.use(tab, { usage_id: `at-once-${i % 16}`, amount: '40000' }),
    );
    expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 18, 409: 14 });
    expect((await calls.verify(tab)).authorization).toMatchObject({ used: '481001' });
  });

  test('needs the key of its service and the token of its buyer', async () => {
    const [tab, other, stranger] = [await open(), await open(), await createVendor(api, stack)];
    const use = { usage_id: 'one', amount: '1' };
    const wrong = { ...tab, settlement_token: other.settlement_token };
    const answers = [
      await calls.use(tab, use, stranger.apiKey),
      await calls.use(wrong, use),
      await calls.use(tab, { ...use, amount: '0' }),
      await calls.use(tab, { ...use, units: 1 }),
      await calls.use(tab, { usage_id: 'one', units: 1 }),
      await calls.use(tab, { usages: [use, use] }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 400, 400, 400, 409, 400]);
    expect((await calls.verify(tab)).authorization).toMatchObject({ used: '0' });
  });
});

describe('capture', () => {
  test('pays what was used by one transfer, with receipts, lists and sums of both sides, and can be refunded', async () => {
    const payer = await createConsumer(api, stack);
    const seller = await createVendor(api, stack);
    const own = tabCalls(api, seller);
    const tab = await must(own.authorize(payer.token, await own.quote()), 'authorize');
    await own.use(tab, { usage_id: 'one', amount: '300000' });
    const captured = await must(own.capture(tab), 'capture');
    expect(captured).toMatchObject({
      status: 'confirmed',
      captured_amount: '300000',
      fee_amount: '10000',
      net_amount: '290000',
      max_amount: `${CEILING}`,
    });
    expect((await own.capture(tab)).body).toEqual(captured);
    expect(await chain.balance(payer.wallet.publicKey)).toBe(99_700_000n);
    expect(await chain.received(seller.payout.publicKey.toBase58(), captured.tx_hash!)).toBe(290_000n);
    expect((await own.redeem(tab)).body).toMatchObject({ status: 'redeemed', replayed: true });
    expect((await own.voidIt(tab)).status).toBe(409);
    await waitFor(
      () => own.verify(tab),
      (now) => now.chain_status === 'finalized',
    );

    type List = { data: { type: string; amount: string; fee_amount: string; direction: string }[] };
    const listed = (token: string) =>
      waitFor(
        async () => (await must(api<List>('GET /v1/transactions?type=payment', { token }), 'list')).data,
        ({ length }) => length === 1,
      );
    const sums = (token: string) => must(api('GET /v1/spending/summary', { token }), 'summary');
    expect(await listed(payer.token)).toMatchObject([
      { direction: 'out', amount: '300000', fee_amount: '10000', tx_hash: captured.tx_hash },
    ]);
    expect(await listed(seller.signIn.access_token)).toMatchObject([{ direction: 'in', amount: '290000' }]);
    expect(await sums(payer.token)).toMatchObject({ total_spent: '300000', payment_count: 1 });

    type Receipt = { receipt: string; claims: object };
    for (const token of [payer.token, seller.apiKey]) {
      const path = `GET /v1/settlements/${tab.settlement_id}/receipt` as const;
      const { receipt } = await must(api<Receipt>(path, { token }), 'receipt');
      const options = { baseUrl: stack.gateway_url, environment: 'test' } as const;
      expect(await verifyReceipt(receipt, options)).toMatchObject({
        amount: { gross: '300000', fee: '10000', net: '290000' },
        transaction: { signature: captured.tx_hash },
      });
    }
    const exported = [];
    const client = createClient({ baseUrl: stack.gateway_url, credential: payer.token });
    for await (const { from, data } of exportAccount(client))
      if (JSON.stringify(data).includes(tab.settlement_id)) exported.push({ from, data });
    expect(exported).toContainEqual(
      expect.objectContaining({
        data: expect.objectContaining({
          quote_amount: '300000',
          authorization: expect.objectContaining({ max_amount: `${CEILING}`, used: '300000' }),
        }),
      }),
    );

    await refund(api, seller, tab.settlement_id, 290_000n);
    await waitFor(
      () => chain.balance(payer.wallet.publicKey),
      (now) => now === 99_990_000n,
    );
    const beyond = { settlement_id: tab.settlement_id, amount: '1' };
    expect((await api('POST /v1/refunds', { token: seller.apiKey, body: beyond })).status).toBe(409);
  });

  test('of an extended ceiling is one payment in the lists and sums of both sides', async () => {
    const [payer, seller] = [await createConsumer(api, stack), await createVendor(api, stack)];
    const own = tabCalls(api, seller);
    const quote = await own.quote();
    const tab = await must(own.authorize(payer.token, quote), 'authorize');
    const more = await must(own.extend(quote, '400000'), 'quote');
    const { extension_id } = await must(own.authorize(payer.token, more), 'extend');
    await own.use(tab, { usage_id: 'one', amount: '850000' });
    await must(own.capture(tab), 'capture');
    const sides = [payer.token, seller.signIn.access_token];
    for (const [token, amount] of [
      [sides[0]!, '850000'],
      [sides[1]!, '840000'],
    ] as const) {
      type List = { data: { object_id: string; amount: string }[] };
      const { data } = await waitFor(
        () => must(api<List>('GET /v1/transactions?type=payment', { token }), 'list'),
        ({ data: found }) => found.length > 0,
      );
      expect(data).toMatchObject([{ object_id: tab.settlement_id, amount }]);
    }
    expect(await must(api('GET /v1/spending/summary', { token: payer.token }), 'summary')).toMatchObject({
      ...{ total_spent: '850000', payment_count: 1 },
    });
    // An extension is no payment, so it has no refund: the refund is one of the capture.
    const body = { settlement_id: extension_id, amount: '1' };
    expect(refusal(await api('POST /v1/refunds', { token: seller.apiKey, body }))).toEqual([
      400,
      'validation_error',
      'settlement_id: must be an id that begins with stl_',
    ]);
  });

  test('of the mode manual may be more than was reported, with the token of the buyer, and happens once', async () => {
    const tab = await open({ capture: 'manual' });
    await calls.use(tab, { usage_id: 'one', amount: '100000' });
    const token = { settlement_token: tab.settlement_token };
    const refused = [
      await calls.capture(tab, { amount: '150000' }),
      await calls.capture(tab, { ...token, amount: '99999' }),
      await calls.capture(tab, { ...token, amount: '500001' }),
    ];
    expect(refused.map(({ status, body }) => [status, body.error?.code])).toEqual([
      [400, 'validation_error'],
      [400, 'validation_error'],
      [409, 'usage_exceeds_authorization'],
    ]);
    const before = await balance();
    const answers = await atOnce(16, () => calls.capture(tab, { ...token, amount: '150000' }));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers[0]!.body).toMatchObject({ status: 'confirmed', captured_amount: '150000' });
    expect(await balance()).toBe(before - 150_000n);
    expect(refusal(await calls.capture(tab, { ...token, amount: '150001' }))).toEqual([
      409,
      'conflict',
      expect.stringContaining('another amount was captured: 150000'),
    ]);
    expect(refusal(await calls.use(tab, { usage_id: 'two', amount: '1' }))[1]).toBe('authorization_closed');
    // The vendor hears of each step, and of the buyer’s money in its own role.
    const events = await eventsOf(tab, 'settlement.authorized', 'settlement.captured', 'settlement.redeemed');
    expect(events.get('settlement.authorized')).toMatchObject({
      role: 'vendor',
      quote_amount: `${CEILING}`,
      capture_ends_at: tab.capture_ends_at,
    });
    expect(events.get('settlement.captured')).toMatchObject({
      quote_amount: '150000',
      max_amount: `${CEILING}`,
      tx_hash: answers[0]!.body.tx_hash,
    });
    const types = (
      await must(
        api<{ data: { type: string; object_id: string }[] }>('GET /v1/events?limit=100', {
          token: buyer.token,
        }),
        'events',
      )
    ).data.filter(({ object_id }) => object_id === tab.settlement_id);
    expect(types.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['settlement.authorized', 'settlement.captured']),
    );
  });

  test('of use that its fee takes is refused with the least amount, and giving up use must be said', async () => {
    const tab = await open();
    await calls.use(tab, { usage_id: 'one', amount: '10000' });
    expect(refusal(await calls.capture(tab))).toEqual([
      409,
      'capture_below_fee',
      expect.stringContaining('the least amount that can be captured is 10001'),
    ]);
    expect(refusal(await calls.voidIt(tab))).toEqual([
      409,
      'conflict',
      expect.stringContaining('discard_usage'),
    ]);
    expect((await calls.voidIt(tab, { discard_usage: true })).body).toMatchObject({
      status: 'voided',
      used: '10000',
    });
    expect((await eventsOf(tab, 'settlement.voided')).get('settlement.voided')).toMatchObject({
      used: '10000',
    });
  });

  test('happens by itself at the threshold, and no use is recorded after it', async () => {
    const tab = await open({ capture_threshold: '200000' });
    await calls.use(tab, { usage_id: 'one', amount: '199999' });
    expect(await calls.verify(tab)).toMatchObject({ status: 'authorized' });
    await calls.use(tab, { usage_id: 'two', amount: '1001' });
    expect(refusal(await calls.use(tab, { usage_id: 'three', amount: '1' }))[1]).toBe('authorization_closed');
    expect(await untilStatus(tab, 'redeemed')).toMatchObject({ quote_amount: '201000' });
  });

  test('happens by itself when the window ends, and an unused or too small one is void', async () => {
    const tabs = [await open(), await open(), await open()] as const;
    await calls.use(tabs[0], { usage_id: 'one', amount: '77000' });
    await calls.use(tabs[1], { usage_id: 'one', amount: '9999' });
    const before = await balance();
    await Promise.all(tabs.map(endWindow));
    expect(await untilStatus(tabs[0], 'redeemed')).toMatchObject({ quote_amount: '77000' });
    expect(await untilStatus(tabs[1], 'voided')).toMatchObject({ authorization: { used: '9999' } });
    expect(await untilStatus(tabs[2], 'voided')).toMatchObject({ authorization: { used: '0' } });
    expect(await balance()).toBe(before - 77_000n);
    expect((await eventsOf(tabs[1], 'settlement.voided')).get('settlement.voided')).toMatchObject({
      used: '9999',
      role: 'vendor',
    });
  });
});
