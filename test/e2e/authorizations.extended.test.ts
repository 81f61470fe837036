import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { rpcAt } from '../faults/access.ts';
import { actionsOf } from '../faults/owner-actions.ts';
import { CEILING, type Tab, type TabQuote, tabCalls } from '../support/actors/tab-calls.ts';
import { createTabHarness, refusal, type TabHarness } from '../support/actors/tab-harness.ts';
import { waitFor } from '../support/base/wait.ts';
import { chainOf } from '../support/servers/chain.ts';
import { atOnce, runningStack, tally } from '../support/servers/stack.ts';

/** The ceilings of authorizations are extended, through the public API and over the real chain. */
const stack = runningStack();
const environment = stack.environments.test!;
const chain = chainOf(environment);

let harness: TabHarness;
let { api, vendor, buyer, calls, untilStatus, eventsOf }: TabHarness = {} as never;
beforeAll(async () => {
  harness = await createTabHarness(stack);
  ({ api, vendor, buyer, calls, untilStatus, eventsOf } = harness);
});
afterAll(() => harness.stop());

const ADDED = 400_000n;
const MINUTE_LATE = { capture_window_seconds: 60 };
type Opened = { tab: Tab; quote: TabQuote };
const opened = async (terms: object = {}, token = buyer.token): Promise<Opened> => {
  const quote = await calls.quote(terms);
  return { quote, tab: await must(calls.authorize(token, quote), 'authorize') };
};
/** Asks for the quote of an extension. */
const quoteMore = ({ quote }: Pick<Opened, 'quote'>, more: object = {}, seller: Vendor = vendor) =>
  api<TabQuote & { extends: string; error?: { code: string; message: string } }>('POST /v1/quote', {
    token: seller.apiKey,
    body: {
      service_id: seller.serviceId,
      extends: quote.quote_id,
      max_amount: String(ADDED),
      ...more,
    },
  });
const extended = async (one: Opened, { token }: Pick<Consumer, 'token'> = buyer) =>
  calls.authorize(token, await must(quoteMore(one), 'quote'));

test('a tab is extended, used beyond its first ceiling, and paid by one transfer', async () => {
  const payer = await createConsumer(api, stack);
  const seller = await createVendor(api, stack);
  const own = tabCalls(api, seller);
  const quote = await own.quote({ unit_price: '250', scope: { resource: 'https://api.example/chat' } });
  const tab = await must(own.authorize(payer.token, quote), 'authorize');
  const more = await must(quoteMore({ quote }, {}, seller), 'quote');
  expect(more).toMatchObject({
    ...{
      extends: quote.quote_id,
      quote_amount: String(ADDED),
      max_amount: String(ADDED),
      fee_amount: '2000',
    },
    capture: quote.capture,
  });
  const attempt = crypto.randomUUID();
  const extended = await calls.authorize(payer.token, more, attempt);
  expect(extended).toMatchObject({
    status: 200,
    body: { ...tab, max_amount: String(CEILING + ADDED), extension_id: expect.any(String) },
  });
  expect((await calls.authorize(payer.token, more, attempt)).body).toEqual(extended.body);
  await must(own.use(tab, { usage_id: 'one', amount: '850000' }), 'use');
  expect(await own.verify(tab)).toMatchObject({
    authorization: { max_amount: String(CEILING + ADDED), used: '850000', left: '50000' },
  });
  const before = await chain.balance(payer.wallet.publicKey);
  expect(await must(own.capture(tab), 'capture')).toMatchObject({
    ...{ status: 'confirmed', captured_amount: '850000', fee_amount: '10000' },
    max_amount: String(CEILING + ADDED),
  });
  expect(before - (await chain.balance(payer.wallet.publicKey))).toBe(850_000n);
  expect(await chain.balance(seller.payout.publicKey)).toBe(840_000n);
  // Both sides see one payment.
  const { extension_id } = extended.body as unknown as { extension_id: string };
  for (const token of [payer.token, seller.apiKey]) {
    const { data } = await must(
      api<{ data: { settlement_id: string; status: string; extensions: object[] }[] }>(
        'GET /v1/settlements',
        {
          token,
        },
      ),
      'list',
    );
    expect(data).toMatchObject([
      {
        settlement_id: tab.settlement_id,
        status: 'redeemed',
        extensions: [{ extension_id, quote_id: more.quote_id, amount: String(ADDED) }],
      },
    ]);
    expect(data[0]!.extensions).toHaveLength(1);
  }
  // The quote service asks for the end of the authorization once a minute.
  const shown = await must(
    api<{ status: string }>(`GET /v1/quotes/${more.quote_id}`, { token: seller.apiKey }),
    'quote',
  );
  expect(shown.status).toMatch(/^(settling|settled)$/);
  const receipt = await must(
    api<{ receipt: string }>(`GET /v1/settlements/${tab.settlement_id}/receipt`, { token: payer.token }),
    'receipt',
  );
  expect(receipt.receipt).toEqual(expect.any(String));
  expect((await api(`GET /v1/settlements/${extension_id}/receipt`, { token: payer.token })).status).toBe(400);
});

test('both sides are told of it', async () => {
  const one = await opened();
  const extension = await must(extended(one), 'extend');
  const events = await eventsOf(one.tab, 'settlement.extended');
  expect(events.get('settlement.extended')).toMatchObject({
    ...{ settlement_id: one.tab.settlement_id, added: String(ADDED), quote_amount: String(CEILING + ADDED) },
    extension_id: (extension as unknown as { extension_id: string }).extension_id,
  });
});

test('the quote of an extension is refused with the words that help', async () => {
  const one = await opened();
  const [stranger, fixed] = [await createVendor(api, stack), await quoteFixed()];
  const more = await must(quoteMore(one), 'quote');
  expect(refusal(await quoteMore(one, {}, stranger))).toEqual([404, 'not_found', expect.any(String)]);
  expect(refusal(await quoteMore({ quote: fixed }))).toEqual([
    409,
    'conflict',
    expect.stringContaining('has no ceiling'),
  ]);
  expect(refusal(await quoteMore({ quote: more }))).toEqual([
    400,
    'validation_error',
    expect.stringContaining(one.quote.quote_id),
  ]);
  expect(refusal(await quoteMore(one, { capture: 'usage' }))[0]).toBe(400);
  expect(refusal(await quoteMore(one, { scope: {} }))[0]).toBe(400);
  expect(refusal(await quoteMore(one, { max_amount: undefined }))[0]).toBe(400);
  await must(calls.voidIt(one.tab), 'void');
  await waitFor(
    () => quoteMore(one),
    ({ status }) => status === 409,
  );
  expect(refusal(await quoteMore(one))).toEqual([409, 'authorization_closed', expect.any(String)]);
});

const quoteFixed = () =>
  must(
    api<TabQuote>('POST /v1/quote', { token: vendor.apiKey, body: { service_id: vendor.serviceId } }),
    'quote',
  );

test('only the credential that authorized a tab extends it', async () => {
  const limit = '100000000';
  const agent = await createDelegate(api, buyer, { per_payment: limit, daily: limit });
  const one = await opened({}, agent.api_key);
  expect(refusal(await extended(one))).toEqual([409, 'authorization_closed', expect.any(String)]);
  expect(refusal(await extended(one, await createConsumer(api, stack)))).toEqual([
    409,
    'authorization_closed',
    expect.any(String),
  ]);
  expect((await extended(one, { token: agent.api_key })).status).toBe(200);
});

test('64 calls with one extension count it once, and 64 extensions count what fits', async () => {
  const one = await opened();
  const more = await must(quoteMore(one), 'quote');
  const attempt = crypto.randomUUID();
  const same = await atOnce(32, () => calls.authorize(buyer.token, more, attempt));
  expect(tally(same.map(({ status }) => status))).toEqual({ 200: 32 });
  const others = await atOnce(32, () => calls.authorize(buyer.token, more));
  expect(tally(others.map(({ status }) => status))).toEqual({ 409: 32 });
  const payer = await createConsumer(api, stack, { balance: CEILING + 5n * ADDED });
  const own = await opened({}, payer.token);
  const answers = await atOnce(16, () => extended(own, payer));
  expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 5, 402: 11 });
  expect((await calls.verify(own.tab)).quote_amount).toBe(String(CEILING + 5n * ADDED));
});

test('the tab of a buyer who empties the wallet after an extension fails, and is extended no more', async () => {
  const payer = await createConsumer(api, stack);
  const one = await opened(MINUTE_LATE, payer.token);
  await must(extended(one, payer), 'extend');
  await must(calls.use(one.tab, { usage_id: 'one', amount: '600000' }), 'use');
  // The quote service refuses another one as soon as it knows that the tab has ended.
  const more = await must(quoteMore(one), 'quote');
  await actionsOf({ chain, rpc: rpcAt(environment.rpc_url) }, payer.wallet).emptied();
  await untilStatus(one.tab, 'failed');
  expect(refusal(await calls.authorize(payer.token, more))).toEqual([
    409,
    'authorization_closed',
    expect.any(String),
  ]);
  expect(refusal(await calls.use(one.tab, { usage_id: 'two', amount: '1' }))[1]).toBe('authorization_closed');
});
