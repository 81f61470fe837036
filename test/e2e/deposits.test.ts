import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Consumer, createConsumer } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { environmentKeys } from '../../deploy/local/stack/keys.ts';
import { staysFor, waitFor } from '../support/base/wait.ts';
import { openPage, submitPage } from '../support/browser/payment-page.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';
import {
  coinbaseEvent,
  coinbaseWebhook,
  moonpayEvent,
  moonpayWebhook,
  type SignedWebhook,
} from '../support/stand-ins/webhooks.ts';

type Deposit = {
  deposit_id: string;
  status: string;
  amount: string | null;
  redirect_url: string;
  tx_hash: string | null;
  problem: { code: string } | null;
  completed_at: string | null;
};
type Provider = 'moonpay' | 'coinbase';

const stack = runningStack();
const api = createApi(stack.gateway_url);
const stateDir = path.dirname(process.env.STACK_FILE!);

/**
 * Tests mostly wait for the chain, so they run concurrently. Hooks do not apply to concurrent
 * tests.
 */
let shared: Promise<Consumer> | undefined;
const newConsumer = (environment = 'test') =>
  createConsumer(api, stack, { environment, balance: 0n, allowance: 0n });
const someone = (): Promise<Consumer> => {
  shared ??= newConsumer();
  return shared;
};

const create = async (provider: Provider, by?: Consumer) => {
  const who = by ?? (await someone());
  return must(
    api<Deposit>('POST /v1/deposits/fiat', {
      token: who.token,
      body: {
        wallet_id: who.walletId,
        provider,
        fiat_currency: 'USD',
        fiat_amount: '50.00',
        redirect_url: 'https://shop.example/done',
      },
    }),
    'create deposit',
  );
};
const get = async (id: string, by?: Consumer) => {
  const { token } = by ?? (await someone());
  return must(api<Deposit>(`GET /v1/deposits/${id}`, { token }), 'get deposit');
};
/**
 * Returns the deposit once it is as expected. The time allows for busy machines and for the 32
 * slots until a transfer is final.
 */
const until = (id: string, good: (deposit: Deposit) => boolean, who?: Consumer): Promise<Deposit> =>
  waitFor(() => get(id, who), good, 60_000, 200);
const hook = async (provider: Provider, { body, headers }: SignedWebhook, environment = 'test') => {
  const response = await fetch(`${stack.gateway_url}/v1/providers/${provider}/${environment}/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return response.status;
};
/** The steps of a person on the payment page. */
const PAID: Record<Provider, Record<string, string>> = {
  moonpay: { action: 'approve' },
  coinbase: { action: 'pay' },
};
const pay = async (provider: Provider, { redirect_url }: Deposit, chosen: Record<string, string> = {}) =>
  submitPage(await openPage(redirect_url), { ...PAID[provider], ...chosen });

describe.each(['moonpay', 'coinbase'] as const)('a deposit through %s', (provider) => {
  test.concurrent('from the page to the wallet: the transfer on the chain completes it', async () => {
    const chain = chainOf(stack.environments.test!);
    const consumer = await newConsumer();
    const before = await chain.balance(consumer.wallet.publicKey);
    const made = await create(provider, consumer);
    expect(made).toMatchObject({
      status: 'awaiting_payment',
      tx_hash: null,
      problem: null,
      completed_at: null,
    });
    const done = await pay(provider, made);
    expect(done.html).toContain('https://shop.example/done');
    const deposit = await until(made.deposit_id, ({ status }) => status === 'completed', consumer);
    expect(deposit).toMatchObject({ amount: '48500000', redirect_url: null, problem: null });
    expect(await chain.instructions(deposit.tx_hash!)).toContain('spl-token:transferChecked');
    expect((await chain.balance(consumer.wallet.publicKey)) - before).toBe(48_500_000n);
    const listed = () =>
      must(
        api<{ data: object[] }>('GET /v1/transactions?type=deposit', { token: consumer.token }),
        'transactions',
      );
    const { data } = await waitFor(listed, (page) => page.data.length > 0);
    expect(data).toMatchObject([
      { type: 'deposit', direction: 'in', amount: '48500000', tx_hash: deposit.tx_hash, status: 'finalized' },
    ]);
  });

  test.concurrent('is completed by webhooks that arrive twice and in the wrong order', async () => {
    const made = await create(provider);
    await pay(provider, made, { twice: 'yes', reversed: 'yes' });
    expect(await until(made.deposit_id, ({ status }) => status === 'completed')).toMatchObject({
      amount: '48500000',
    });
    await staysFor(
      1500,
      () => get(made.deposit_id),
      ({ status }) => status === 'completed',
    );
  });

  test.concurrent('is completed without any webhook, by polling', async () => {
    const made = await create(provider);
    await pay(provider, made, { silent: 'yes' });
    await until(made.deposit_id, ({ status }) => status === 'completed');
  });

  test.concurrent('is never completed when the provider reports a transfer that it did not send', async () => {
    const made = await create(provider);
    await pay(provider, made, { transfer: 'none' });
    await until(made.deposit_id, ({ status }) => status === 'settling');
    const deposit = await staysFor(
      6000,
      () => get(made.deposit_id),
      ({ status }) => status === 'settling',
    );
    expect(deposit).toMatchObject({
      status: 'settling',
      tx_hash: null,
      completed_at: null,
    });
  });

  test.concurrent('is flagged and not completed when the transfer is a micro-unit smaller than reported', async () => {
    const made = await create(provider);
    await pay(provider, made, { transfer: 'less' });
    expect(await until(made.deposit_id, ({ problem }) => problem !== null)).toMatchObject({
      status: 'settling',
      problem: { code: 'wrong_amount' },
      tx_hash: null,
    });
  });

  test.concurrent('fails when the payment is declined', async () => {
    const made = await create(provider);
    await pay(provider, made, { action: 'decline' });
    expect(await until(made.deposit_id, ({ status }) => status === 'failed')).toMatchObject({
      problem: { code: 'payment_refused' },
    });
  });
});

describe('MoonPay’s page', () => {
  test.concurrent('completes after a confirmed 3-D Secure challenge', async () => {
    const made = await create('moonpay');
    const challenge = await pay('moonpay', made, { action: 'three_d_secure' });
    expect(challenge.html).toContain('3-D Secure');
    await staysFor(
      1500,
      () => get(made.deposit_id),
      ({ status }) => status === 'awaiting_payment',
    );
    await submitPage(challenge, { action: 'confirm' });
    await until(made.deposit_id, ({ status }) => status === 'completed');
  });

  test.concurrent('is cancelled when the customer cancels the challenge', async () => {
    const made = await create('moonpay');
    await submitPage(await pay('moonpay', made, { action: 'three_d_secure' }), { action: 'cancel' });
    await until(made.deposit_id, ({ status }) => status === 'cancelled');
  });

  test.concurrent('is completed by a good card after a declined one on the same page', async () => {
    const made = await create('moonpay');
    await pay('moonpay', made, { action: 'decline' });
    await until(made.deposit_id, ({ status }) => status === 'failed');
    await pay('moonpay', made);
    expect(await until(made.deposit_id, ({ status }) => status === 'completed')).toMatchObject({
      problem: null,
    });
  });

  test.concurrent.each([
    ['the amount', (url: string) => url.replace('baseCurrencyAmount=50.00', 'baseCurrencyAmount=51.00')],
    ['the wallet', (url: string) => url.replace(/walletAddress=.{4}/, 'walletAddress=1111')],
    ['a field after the signature', (url: string) => `${url}&lockAmount=false`],
    ['no signature', (url: string) => url.replace(/&signature=.*/, '')],
  ])('a changed URL is not shown: %s', async (_name, change) => {
    const { redirect_url } = await create('moonpay');
    expect((await openPage(redirect_url)).status).toBe(200);
    expect((await openPage(change(redirect_url))).status).toBe(400);
  });
});

test.concurrent('a Coinbase page can be used once, and a wrong code does not use it up', async () => {
  const made = await create('coinbase');
  const page = await openPage(made.redirect_url);
  expect((await submitPage(page, { action: 'pay', code: '12' })).status).toBe(400);
  expect((await submitPage(page, { action: 'pay' })).status).toBe(200);
  expect((await submitPage(page, { action: 'pay' })).status).toBe(400);
});

test.concurrent('one transfer cannot complete two deposits', async () => {
  const keys = environmentKeys(stateDir, 'test').onramps;
  const wallet = (await someone()).wallet.publicKey.toBase58();
  const [first, second, third] = [await create('moonpay'), await create('moonpay'), await create('coinbase')];
  await pay('moonpay', first);
  const { tx_hash } = await until(first.deposit_id, ({ status }) => status === 'completed');
  const claim = moonpayEvent({ deposit_id: second.deposit_id, wallet }, { cryptoTransactionId: tx_hash });
  expect(await hook('moonpay', moonpayWebhook(keys.moonpay.webhookKey, claim))).toBe(200);
  const other = coinbaseEvent({ deposit_id: third.deposit_id, wallet }, { txHash: tx_hash });
  expect(await hook('coinbase', coinbaseWebhook(keys.coinbase.webhookSecret, other))).toBe(200);
  for (const { deposit_id } of [second, third]) {
    expect(await until(deposit_id, ({ problem }) => problem !== null)).toMatchObject({
      status: 'settling',
      problem: { code: 'already_counted' },
      tx_hash: null,
    });
  }
});

test.concurrent('a transfer to another account completes nothing', async () => {
  const keys = environmentKeys(stateDir, 'test').onramps;
  const other = await newConsumer();
  const [theirs, ours] = [await create('moonpay', other), await create('moonpay')];
  await pay('moonpay', theirs);
  const { tx_hash } = await until(theirs.deposit_id, ({ status }) => status === 'completed', other);
  const wallet = (await someone()).wallet.publicKey.toBase58();
  const claim = moonpayEvent({ deposit_id: ours.deposit_id, wallet }, { cryptoTransactionId: tx_hash });
  await hook('moonpay', moonpayWebhook(keys.moonpay.webhookKey, claim));
  expect(await until(ours.deposit_id, ({ problem }) => problem !== null)).toMatchObject({
    status: 'settling',
    problem: { code: 'no_transfer' },
  });
  expect(
    (await api(`GET /v1/deposits/${theirs.deposit_id}`, { token: (await someone()).token })).status,
  ).toBe(404);
});

test.concurrent('a list has the account’s deposits only, newest first', async () => {
  const other = await newConsumer();
  const made = [
    await create('moonpay', other),
    await create('coinbase', other),
    await create('moonpay', other),
  ];
  const page = async (query: string) =>
    must(
      api<{ data: Deposit[]; next_cursor: string | null }>(`GET /v1/deposits?${query}`, {
        token: other.token,
      }),
      'list',
    );
  const first = await page('limit=2');
  expect(first.data.map(({ deposit_id }) => deposit_id)).toEqual([made[2]!.deposit_id, made[1]!.deposit_id]);
  const second = await page(`limit=2&cursor=${first.next_cursor}`);
  expect(second.data.map(({ deposit_id }) => deposit_id)).toEqual([made[0]!.deposit_id]);
  expect(second.next_cursor).toBeNull();
  expect((await page('status=completed')).data).toEqual([]);
  const foreign = await api(`GET /v1/deposits?limit=2&cursor=${first.next_cursor}`, {
    token: (await someone()).token,
  });
  expect(foreign.status).toBe(400);
});

test.concurrent.each([
  ['a number', { fiat_amount: 50 }],
  ['nothing', { fiat_amount: '0.00' }],
  ['three decimals', { fiat_amount: '1.001' }],
  ['an exponent', { fiat_amount: '1e2' }],
  ['a sign', { fiat_amount: '+1' }],
  ['a leading zero', { fiat_amount: '01' }],
  ['lower-case currency', { fiat_currency: 'usd' }],
  ['another provider', { provider: 'stripe' }],
  ['a status', { status: 'completed' }],
  ['an account', { account_id: 'acct_1' }],
  ['a script for a redirect', { redirect_url: 'javascript:alert(1)' }],
  ['plain http', { redirect_url: 'http://shop.example/' }],
  ['a redirect with a password', { redirect_url: 'https://a:b@shop.example/' }],
])('refused with 400: %s', async (_name, body) => {
  const { token, walletId } = await someone();
  const answer = await api<{ error: { code: string } }>('POST /v1/deposits/fiat', {
    token,
    body: {
      wallet_id: walletId,
      provider: 'moonpay',
      fiat_currency: 'USD',
      fiat_amount: '50.00',
      ...body,
    },
  });
  expect([answer.status, answer.body.error.code]).toEqual([400, 'validation_error']);
});

// An external NATS has no account per environment, so there is only one environment.
const twoEnvironments = stack.environments.live !== undefined ? describe : describe.skip;
twoEnvironments('environments', () => {
  test.concurrent('each environment has its keys, and its chain pays', async () => {
    expect(existsSync(path.join(stateDir, 'keys-live.json'))).toBe(true);
    const live = await newConsumer('live');
    const made = await create('moonpay', live);
    const wallet = live.wallet.publicKey.toBase58();
    const claim = moonpayEvent({ deposit_id: made.deposit_id, wallet }, { status: 'pending' });
    const keyOf = (environment: string) => environmentKeys(stateDir, environment).onramps.moonpay.webhookKey;
    expect(await hook('moonpay', moonpayWebhook(keyOf('test'), claim), 'live')).toBe(401);
    // Authentic, and about a deposit that the test environment does not have.
    expect(await hook('moonpay', moonpayWebhook(keyOf('test'), claim), 'test')).toBe(200);
    expect((await get(made.deposit_id, live)).status).toBe('awaiting_payment');
    await pay('moonpay', made);
    await until(made.deposit_id, ({ status }) => status === 'completed', live);
    expect(await chainOf(stack.environments.live!).balance(live.wallet.publicKey)).toBe(48_500_000n);
    expect(await chainOf(stack.environments.test!).balance(live.wallet.publicKey)).toBe(0n);
  });
});
