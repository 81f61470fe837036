import { beforeAll, describe, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Paid,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { signPrepared } from '../../deploy/local/seed/wallet.ts';
import { chainOf } from '../support/servers/chain.ts';
import { atOnce, runningStack, tally } from '../support/servers/stack.ts';

const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);

let vendor: Vendor;
let consumer: Consumer;

beforeAll(async () => {
  [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
});

const redeem = (paid: Paid, redeemId?: string, key = vendor.apiKey) =>
  api<{
    status: string;
    redeemed_at: string;
    redeem_id: string | null;
    replayed: boolean;
    error?: { code: string };
  }>(`POST /v1/settlements/${paid.settlement_id}/redeem`, {
    token: key,
    body: { settlement_token: paid.settlement_token, ...(redeemId && { redeem_id: redeemId }) },
  });

describe('one payment', () => {
  test('the first settlement to a vendor has three instructions, the next has two, and net + fee = quote (rule 13)', async () => {
    const before = await chain.balance(consumer.wallet.publicKey);
    const { fee_wallet } = stack.environments.test!;
    const first = await quoteOf(api, vendor);
    const paid = await must(settleWith(api, consumer.token, first), 'settle');
    expect(paid.status).toBe('confirmed');
    expect(await chain.instructions(paid.tx_hash)).toEqual([
      'spl-associated-token-account:createIdempotent',
      'spl-token:transferChecked',
      'spl-token:transferChecked',
    ]);
    const second = await must(settleWith(api, consumer.token, await quoteOf(api, vendor)), 'settle');
    expect(await chain.instructions(second.tx_hash)).toEqual([
      'spl-token:transferChecked',
      'spl-token:transferChecked',
    ]);

    const [gross, fee] = [BigInt(first.quote_amount), BigInt(first.fee_amount)];
    expect([gross, fee].map(String)).toEqual(['2500000', '12500']);
    expect(before - (await chain.balance(consumer.wallet.publicKey))).toBe(2n * gross);
    expect(await chain.balance(vendor.payout.publicKey)).toBe(2n * (gross - fee));
    for (const { tx_hash } of [paid, second]) expect(await chain.received(fee_wallet, tx_hash)).toBe(fee);
  });

  test('redeem succeeds once, its repeat returns the first redeemed_at, and verify never changes anything', async () => {
    const scope = { resource: 'GET /forecast', nested: { list: [1, 'zwei', null] } };
    const quote = await quoteOf(api, vendor, { scope, redeem_window_seconds: 60 });
    const paid = await must(settleWith(api, consumer.token, quote), 'settle');
    const verify = () =>
      must(api(`POST /v1/settlements/${paid.settlement_id}/verify`, { token: vendor.apiKey }), 'verify');
    expect(await verify()).toMatchObject({
      status: 'issued',
      tx_hash: paid.tx_hash,
      quote_amount: '2500000',
      fee_amount: '12500',
      net_amount: '2487500',
      scope,
      service_id: vendor.serviceId,
      redeemed_at: null,
    });
    const first = await redeem(paid, 'replica-1');
    expect(first).toMatchObject({
      status: 200,
      body: { status: 'redeemed', redeem_id: 'replica-1', replayed: false },
    });
    const again = await redeem(paid, 'replica-2');
    expect(again).toMatchObject({
      status: 200,
      body: {
        status: 'redeemed',
        redeemed_at: first.body.redeemed_at,
        redeem_id: 'replica-1',
        replayed: true,
      },
    });
    expect(await verify()).toMatchObject({ status: 'redeemed', redeemed_at: first.body.redeemed_at });
  });

  test('rule 3: the repeat of a confirmed attempt gets the same body after redeem and after the quote expired', async () => {
    const quote = await quoteOf(api, vendor, { expires_in_seconds: 2 });
    const paid = await settleWith(api, consumer.token, quote, 'repeat-1');
    expect(paid.status).toBe(200);
    await redeem(paid.body);
    await new Promise((resolve) => setTimeout(resolve, Date.parse(quote.expires_at) - Date.now() + 100));
    const repeated = await settleWith(api, consumer.token, quote, 'repeat-1');
    expect(repeated.status).toBe(200);
    expect(repeated.body).toEqual(paid.body);
    const late = await settleWith(api, consumer.token, quote, 'repeat-2');
    expect(late).toMatchObject({
      status: 409,
      body: {
        error: {
          code: 'quote_already_settled',
          money_moved: 'yes',
          safe_action: 'read_settlement',
          settlement_id: paid.body.settlement_id,
        },
      },
    });
    const stranger = await createConsumer(api, stack);
    const theirs = await settleWith(api, stranger.token, quote);
    expect(theirs.body).toEqual({
      error: {
        code: 'quote_already_settled',
        message: expect.any(String),
        money_moved: 'no',
        safe_action: 'new_quote',
        request_id: theirs.headers.get('x-request-id'),
        docs_url: `${stack.gateway_url}/docs/errors#quote_already_settled`,
      },
    });
  });

  test('payer and vendor each read their fields of the settlement, and another account gets 404', async () => {
    const paid = await must(settleWith(api, consumer.token, await quoteOf(api, vendor), 'read-1'), 'settle');
    const path = `GET /v1/settlements/${paid.settlement_id}` as const;
    const own = await must(api(path, { token: consumer.token }), 'get');
    expect(own).toMatchObject({
      status: 'issued',
      payment_attempt_id: 'read-1',
      settlement_token: paid.settlement_token,
    });
    const byKey = await must(api(path, { token: vendor.apiKey }), 'get');
    expect(byKey).toMatchObject({ status: 'issued', net_amount: '2487500' });
    expect(byKey).not.toHaveProperty('settlement_token');
    expect(byKey).not.toHaveProperty('payment_attempt_id');
    const found = await must(
      api<{ data: unknown[] }>('GET /v1/settlements?payment_attempt_id=read-1', { token: consumer.token }),
      'list',
    );
    // The quote's token is long, so only the settlement itself contains it.
    const { quote_token, ...listed } = own as Record<string, unknown>;
    expect(quote_token).toEqual(expect.stringContaining('.'));
    expect(found.data).toEqual([listed]);
    const stranger = await createVendor(api, stack);
    expect((await api(path, { token: stranger.apiKey })).status).toBe(404);
    expect((await api(path, { token: stranger.signIn.access_token })).status).toBe(404);
    expect((await redeem(paid, undefined, stranger.apiKey)).status).toBe(404);
  });

  test('a list is paged newest first, and a cursor of another caller or filter is refused', async () => {
    for (let i = 0; i < 3; i += 1)
      await must(settleWith(api, consumer.token, await quoteOf(api, vendor)), 'settle');
    type Page = { data: { settlement_id: string }[]; next_cursor: string | null };
    const all = await must(api<Page>('GET /v1/settlements?limit=100', { token: vendor.apiKey }), 'list');
    const walked: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page = await must(
        api<Page>(
          `GET /v1/settlements?limit=2${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
          { token: vendor.apiKey },
        ),
        'list',
      );
      walked.push(...page.data.map(({ settlement_id }) => settlement_id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(walked).toEqual(all.data.map(({ settlement_id }) => settlement_id));
    expect(walked.toSorted((a, b) => (a < b ? 1 : -1))).toEqual(walked);
    const { next_cursor } = await must(
      api<Page>('GET /v1/settlements?limit=1', { token: vendor.apiKey }),
      'list',
    );
    const foreign = await api(`GET /v1/settlements?limit=1&cursor=${encodeURIComponent(next_cursor!)}`, {
      token: consumer.token,
    });
    expect(foreign.status).toBe(400);
  });
});

describe('at once', () => {
  test('32 concurrent first settles to one new vendor all succeed', async () => {
    const newVendor = await createVendor(api, stack, { price: 1_000_000n });
    const rich = await createConsumer(api, stack);
    const quotes = await atOnce(32, () => quoteOf(api, newVendor));
    const answers = await atOnce(32, (i) => settleWith(api, rich.token, quotes[i]!));
    expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 32 });
    expect(new Set(answers.map(({ body }) => body.tx_hash)).size).toBe(32);
    expect(await chain.balance(newVendor.payout.publicKey)).toBe(32n * 990_000n);
  });
});

describe('refusals move no money', () => {
  test('an expired quote gets 410, another token 400, an account without a wallet 409', async () => {
    const quote = await quoteOf(api, vendor, { expires_in_seconds: 1 });
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(await settleWith(api, consumer.token, quote)).toMatchObject({
      status: 410,
      body: { error: { code: 'quote_expired', money_moved: 'no', safe_action: 'new_quote' } },
    });
    const paid = await must(settleWith(api, consumer.token, await quoteOf(api, vendor)), 'settle');
    const asQuote = await settleWith(api, consumer.token, { quote_token: paid.settlement_token });
    expect(asQuote.status).toBe(400);
    const other = await must(settleWith(api, consumer.token, await quoteOf(api, vendor)), 'settle');
    expect((await redeem({ ...paid, settlement_token: other.settlement_token })).status).toBe(400);

    const walletless = await createVendor(api, stack);
    const attempt = await settleWith(api, walletless.signIn.access_token, await quoteOf(api, vendor));
    expect(attempt).toMatchObject({
      status: 409,
      body: { error: { code: 'delegation_inactive', money_moved: 'no' } },
    });
  });

  test('a wallet without an allowance gets 409 delegation_inactive, and its id can be used after the approval', async () => {
    const shy = await createConsumer(api, stack, { allowance: 0n });
    const quote = await quoteOf(api, vendor);
    const refused = await settleWith(api, shy.token, quote, 'later');
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { code: 'delegation_inactive', money_moved: 'no' } },
    });
    const { transaction } = await must(
      api<{ transaction: string }>(`POST /v1/wallets/${shy.walletId}/onboarding`, {
        token: shy.token,
        body: { allowance: '2500000' },
      }),
      'onboarding',
    );
    const allowing = api(`POST /v1/wallets/${shy.walletId}/delegate`, {
      token: shy.token,
      body: { transaction: signPrepared(transaction, shy.wallet) },
    });
    expect(await must(allowing, 'delegate')).toMatchObject({ delegation: { status: 'active' } });
    expect(await settleWith(api, shy.token, quote, 'later')).toMatchObject({ status: 200 });
  });

  test('a payment to oneself is refused', async () => {
    const wallet = Keypair.generate();
    const self = await createConsumer(api, stack, { wallet });
    const ownService = await createVendor(api, stack, { payout: wallet });
    const answer = await settleWith(api, self.token, await quoteOf(api, ownService));
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
  });

  test('after a revoke the next settle gets 409 and nothing fails on chain', async () => {
    const buyer = await createConsumer(api, stack);
    const path = `POST /v1/wallets/${buyer.walletId}/revoke` as const;
    const { transaction } = await must(
      api<{ transaction: string }>(path, { token: buyer.token, body: {} }),
      'revoke',
    );
    const view = await must(
      api<{ delegation: { status: string } }>(path, {
        token: buyer.token,
        body: { transaction: signPrepared(transaction, buyer.wallet) },
      }),
      'revoke',
    );
    expect(view.delegation.status).toBe('revoked');
    const answer = await settleWith(api, buyer.token, await quoteOf(api, vendor));
    expect(answer).toMatchObject({
      status: 409,
      body: { error: { code: 'delegation_inactive', money_moved: 'no' } },
    });
    expect((await chain.history(buyer.wallet.publicKey)).filter(({ err }) => err !== null)).toEqual([]);
  });
});
