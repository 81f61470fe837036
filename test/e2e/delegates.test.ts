import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Delegate,
  type Paid,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { type Answer, createApi, must } from '../../deploy/local/seed/api.ts';
import { fund, linkWallet } from '../../deploy/local/seed/wallet.ts';
import { inOne } from '../support/base/in-one.ts';
import { waitFor } from '../support/base/wait.ts';
import { chainOf } from '../support/servers/chain.ts';
import { atOnce, runningStack, tally } from '../support/servers/stack.ts';

const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
const PRICE = 1_000_000n;
const BALANCE = 100_000_000n;

let vendor: Vendor;
let buyer: Consumer;
beforeAll(async () => {
  [vendor, buyer] = await Promise.all([
    createVendor(api, stack, { price: PRICE }),
    createConsumer(api, stack, { balance: BALANCE, allowance: BALANCE }),
  ]);
});

/** Every secret that these tests received. */
const secrets: string[] = [];
const delegateOf = async (
  owner: Consumer,
  limits: Parameters<typeof createDelegate>[2],
  more: object = {},
): Promise<Delegate> => {
  const made = await createDelegate(api, owner, limits, more);
  secrets.push(made.api_key);
  return made;
};
const me = (token: string) => must(api<Delegate>('GET /v1/delegates/me', { token }), 'me');
const errorOf = ({ status, body }: Answer<{ error?: { code: string; message: string } }>) =>
  body.error === undefined ? `${status}` : `${status} ${body.error.code} ${body.error.message.split(':')[0]}`;

/** Repeats the same attempt until its state is known. */
const settleToTheEnd = async (token: string, quote: { quote_token: string }) => {
  const id = crypto.randomUUID();
  for (;;) {
    const answer = await settleWith(api, token, quote, id);
    if (answer.status !== 202 && answer.status !== 503) return answer;
  }
};
/** The limit of 2 s on every replica (docs/spec/decisions.md, Shapes). */
const expectDeadWithin2s = async (token: string): Promise<void> => {
  const status = async () => (await api('GET /v1/settlements', { token })).status;
  await waitFor(status, (answer) => answer === 401, 2000);
};

test('a delegate pays from its wallet within its limits, and reads its settlements only', async () => {
  const { robot, paid } = await inOne('day', async () => {
    const robot = await delegateOf(buyer, { per_payment: '2000000', daily: '3000000' });
    const paid = await must(settleWith(api, robot.api_key, await quoteOf(api, vendor)), 'settle');
    const tooBig = await quoteOf(api, vendor, { quote_amount: '2000001' });
    expect(errorOf(await settleWith(api, robot.api_key, tooBig))).toBe('403 limit_exceeded per_payment');
    const two = await quoteOf(api, vendor, { quote_amount: '2000000' });
    expect((await settleWith(api, robot.api_key, two)).status).toBe(200);
    const refused = await settleWith(api, robot.api_key, await quoteOf(api, vendor));
    expect(errorOf(refused)).toBe('403 limit_exceeded daily');
    expect(refused.body.error).toMatchObject({ money_moved: 'no', safe_action: 'raise_limit' });
    expect((await me(robot.api_key)).usage.daily).toMatchObject({
      spent: '3000000',
      held: '0',
      remaining: '0',
    });
    return { robot, paid };
  });

  const other = await delegateOf(buyer, {});
  const seen = await must(api<{ data: Paid[] }>('GET /v1/settlements', { token: other.api_key }), 'list');
  expect(seen.data).toEqual([]);
  const read = `GET /v1/settlements/${paid.settlement_id}` as const;
  expect((await api(read, { token: other.api_key })).status).toBe(404);
  expect((await api(read, { token: robot.api_key })).status).toBe(200);
});

test('64 concurrent settles of a delegate whose limit leaves 10: 10 are paid on chain', async () => {
  const payer = await createConsumer(api, stack, { balance: BALANCE, allowance: BALANCE });
  const robot = await delegateOf(payer, { total: `${10n * PRICE}` });
  const quotes = await atOnce(64, () => quoteOf(api, vendor));
  const answers = await atOnce(64, (i) => settleToTheEnd(robot.api_key, quotes[i]!));
  expect(tally(answers.map(errorOf))).toEqual({ 200: 10, '403 limit_exceeded total': 54 });
  expect(await chain.balance(payer.wallet.publicKey)).toBe(BALANCE - 10n * PRICE);
  expect((await me(robot.api_key)).usage.total).toMatchObject({
    spent: '10000000',
    held: '0',
    remaining: '0',
  });
});

test('a service that is not allowed gets 403, and an expired delegate 401', async () => {
  const elsewhere = await delegateOf(buyer, {}, { allowed_service_ids: [crypto.randomUUID()] });
  expect((await settleWith(api, elsewhere.api_key, await quoteOf(api, vendor))).body.error?.code).toBe(
    'forbidden',
  );
  const expiresAt = Date.now() + 1500;
  const brief = await delegateOf(buyer, {}, { expires_at: new Date(expiresAt).toISOString() });
  expect((await api('GET /v1/delegates/me', { token: brief.api_key })).status).toBe(200);
  const expired = () => Date.now() > expiresAt;
  await waitFor(expired, Boolean);
  await expectDeadWithin2s(brief.api_key);
});

test('a second wallet of the account pays only for its delegate', async () => {
  const payer = await createConsumer(api, stack, { balance: BALANCE, allowance: BALANCE });
  const { token } = payer;
  const second = Keypair.generate();
  const linked = await linkWallet(api, token, payer.signIn.account.account_id, second);
  await fund(api, token, linked.wallet_id, PRICE);
  const robot = await delegateOf(payer, {}, { wallet_id: linked.wallet_id });
  // It has money and no allowance. The first wallet, which has both, does not belong to the
  // delegate.
  const answer = await settleWith(api, robot.api_key, await quoteOf(api, vendor));
  expect(answer.body.error?.code).toBe('delegation_inactive');
  expect(await chain.balance(payer.wallet.publicKey)).toBe(BALANCE);
});

test('after deletion, rotation and reveal old keys are refused within 2 s', async () => {
  const [gone, turned] = [await delegateOf(buyer, {}), await delegateOf(buyer, {})];
  for (const { api_key } of [gone, turned]) await me(api_key);
  const { token } = buyer;
  expect((await api(`DELETE /v1/delegates/${gone.delegate_id}`, { token })).status).toBe(204);
  const rotate = `POST /v1/delegates/${turned.delegate_id}/key/rotate` as const;
  const next = await must(
    api<{ api_key: string }>(rotate, { token, body: { revoke_previous: true } }),
    'rotate',
  );
  await expectDeadWithin2s(gone.api_key);
  await expectDeadWithin2s(turned.api_key);
  await me(next.api_key);
  // By the key itself, with a grace period: both keys are valid.
  const last = await must(api<{ api_key: string }>(rotate, { token: next.api_key, body: {} }), 'rotate');
  await me(next.api_key);
  await me(last.api_key);
  expect((await api(rotate, { token: next.api_key, body: {} })).status).toBe(403);
  secrets.push(next.api_key, last.api_key);
});

test('a service is not deleted while a quote is open, is closed on request, and its payment continues', async () => {
  const shop = await createVendor(api, stack, { price: PRICE });
  const token = shop.signIn.access_token;
  const address = `/v1/services/${shop.serviceId}` as const;
  const quote = await quoteOf(api, shop);
  const refused = await api<{ error: { code: string } }>(`DELETE ${address}`, { token });
  expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict']);
  expect((await api(`DELETE ${address}`, { token, body: { mode: 'close' } })).status).toBe(204);
  // A quote that is requested earlier might be created, and would keep the service open.
  await sleep(2000);
  const more = await api('POST /v1/quote', { token: shop.apiKey, body: { service_id: shop.serviceId } });
  expect(more.status).toBe(409);
  const paid = await must(settleWith(api, buyer.token, quote), 'settle');
  // The quote is paid and the settlement waits for its redeem, so the service is still open.
  expect((await api(`DELETE ${address}`, { token })).status).toBe(409);
  const redeem = await api<{ status: string }>(`POST /v1/settlements/${paid.settlement_id}/redeem`, {
    token: shop.apiKey,
    body: { settlement_token: paid.settlement_token },
  });
  expect(redeem.body.status).toBe('redeemed');
  expect((await api<{ status: string }>(`GET ${address}`, { token })).body.status).toBe('closing');
  // Nothing is open once the quote service has received the redeem, so the service can end before
  // its 30 days.
  let ended = await api(`DELETE ${address}`, { token });
  while (ended.status === 409) {
    await sleep(100);
    ended = await api(`DELETE ${address}`, { token });
  }
  expect(ended.status).toBe(204);
  expect((await api(`GET ${address}`, { token })).status).toBe(404);
});

test('a service with nothing open is deleted with its key', async () => {
  const shop = await createVendor(api, stack, { price: PRICE });
  const token = shop.signIn.access_token;
  expect((await api('GET /v1/quotes', { token: shop.apiKey })).status).toBe(200);
  expect((await api(`DELETE /v1/services/${shop.serviceId}`, { token })).status).toBe(204);
  expect((await api(`GET /v1/services/${shop.serviceId}`, { token })).status).toBe(404);
  await expectDeadWithin2s(shop.apiKey);
});

test('a new payout address applies to new quotes, immediately in test and after 24 h in live; old quotes keep theirs', async () => {
  const shop = await createVendor(api, stack, { price: PRICE });
  const next = Keypair.generate().publicKey.toBase58();
  const old = await quoteOf(api, shop);
  const change = (who: Vendor) =>
    must(
      api<{ payout_address: string; next_payout: { effective_at: string } | null }>(
        `PATCH /v1/services/${who.serviceId}`,
        { token: who.signIn.access_token, body: { payout_address: next } },
      ),
      'payout',
    );
  expect(await change(shop)).toMatchObject({ payout_address: next, next_payout: null });
  await must(settleWith(api, buyer.token, old), 'settle');
  expect(await chain.balance(shop.payout.publicKey)).toBeGreaterThan(0n);

  if (stack.environments.live === undefined) return;
  const liveShop = await createVendor(api, stack, { environment: 'live' });
  const waiting = await change(liveShop);
  expect(waiting.payout_address).toBe(liveShop.payout.publicKey.toBase58());
  const hours = (Date.parse(waiting.next_payout!.effective_at) - Date.now()) / 3600_000;
  expect(Math.round(hours)).toBe(24);
});

test('no log contains a key of these tests', () => {
  const folder = path.join(path.dirname(process.env.STACK_FILE!), 'logs');
  const logs = readdirSync(folder).map(
    (name) => [name, readFileSync(path.join(folder, name), 'utf8')] as const,
  );
  expect(logs.map(([, text]) => text).join('')).toContain('/v1/delegates/:delegate_id/key/rotate');
  secrets.push(vendor.apiKey, vendor.signIn.refresh_token, buyer.token);
  expect(secrets.length).toBeGreaterThan(8);
  // Without the prefix, because a part of a key is also secret.
  const leaks = logs.filter(([, text]) => secrets.some((secret) => text.includes(secret.slice(-30))));
  expect(leaks.map(([name]) => name)).toEqual([]);
});
