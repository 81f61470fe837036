import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import type { z } from 'zod';
import { forward } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { serve } from '../../shared/bus/serve.ts';
import type { Deposit } from '../../shared/contract/funding.ts';
import { funding, wallet } from '../../shared/contract/index.ts';
import type { Handlers } from '../../shared/contract/service.ts';
import { encodeBase58 } from '../../shared/lib/base58.ts';
import { newId } from '../../shared/lib/id.ts';
import { createTestBus, type TestBus } from '../../test/support/bus.ts';
import { AUTHORITY, type ChainStandIn, startChainStandIn } from '../../test/support/chain-stand-in.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { type ServiceProcess, startService } from '../../test/support/service-process.ts';
import {
  coinbaseEvent,
  coinbaseWebhook,
  moonpayEvent,
  moonpayWebhook,
  type SignedWebhook,
} from '../../test/support/webhooks.ts';

/** The state machine of deposits under webhooks of every kind; the chain shows what a test says that it shows. */

type View = z.infer<typeof Deposit>;
type Provider = View['provider'];

const ACCOUNT = newId('acct');
const WALLET = newId('wal');
const OWNER = encodeBase58(new Uint8Array(32).fill(7));
const KEYS = { moonpay: 'wk_test_key', coinbase: '123e4567-e89b-12d3-a456-426614174000' };
const AMOUNT = '48500000';

let database: TestDatabase;
let testBus: TestBus;
let gateway: Bus;
let chain: ChainStandIn;
let admin: pg.Client;
let service: ServiceProcess;
/** The provider's API: what is asked answers with what stands here, 500 where nothing does. */
const answers = new Map<string, { status: number; body: unknown }>();
const asked: string[] = [];
const provider = createServer((request, response) => {
  const path = request.url!.split('?')[0]!;
  asked.push(path);
  const { status, body } = answers.get(path) ?? { status: 500, body: 'oops' };
  request.resume();
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
const SESSIONS = '/platform/v2/onramp/sessions';
const page = { session: { onrampUrl: 'https://pay.coinbase.com/buy?sessionToken=abc' } };

const start = (env: Record<string, string>) =>
  startService('funding', { CURSOR_KEY: 'a'.repeat(43), ...env }, { testBus, database });

let config: Record<string, string>;
beforeAll(async () => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  gateway = await testBus.as('gateway');
  chain = startChainStandIn(await testBus.as('chain-submitter'));
  admin = new pg.Client({ connectionString: database.adminUrl, options: '-c search_path=funding,public' });
  await admin.connect();
  await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done));
  const base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const refuse = async (): Promise<never> => {
    throw new Error('not asked in this suite');
  };
  const others = Object.fromEntries(Object.keys(wallet.operations).map((name) => [name, refuse]));
  serve(await testBus.as('wallet'), wallet, {
    ...others,
    find: async ({ account_id, wallet_id }: { account_id: string; wallet_id?: string }) =>
      account_id === ACCOUNT && wallet_id === WALLET
        ? { wallet_id: WALLET, owner: OWNER, token_account: OWNER, authority: AUTHORITY }
        : null,
  } as unknown as Handlers<typeof wallet>);
  const moonpay = { publishable_key: 'pk', secret_key: 'sk', webhook_key: KEYS.moonpay };
  const coinbase = {
    key_id: 'key',
    key_secret: Buffer.alloc(64, 3).toString('base64'),
    webhook_secret: KEYS.coinbase,
    user_ref_prefix: 'sandbox-',
  };
  config = {
    MOONPAY: JSON.stringify({ ...moonpay, widget_url: `${base}/`, api_url: `${base}/api` }),
    COINBASE: JSON.stringify({ ...coinbase, api_url: `${base}/platform`, status_url: `${base}/onramp` }),
  };
  service = await start(config);
});

afterAll(async () => {
  await service.stop();
  await chain.stop();
  await admin.end();
  provider.closeAllConnections();
  await new Promise((done) => provider.close(done));
  await Promise.all([database.drop(), testBus.stop()]);
});

beforeEach(() => {
  asked.length = 0;
  answers.clear();
  answers.set(SESSIONS, { status: 201, body: page });
});

const caller = { kind: 'jwt', account_id: ACCOUNT, session_id: 'ses', auth_time: 1 } as const;
const options = { timeoutMs: 20_000, headers: {} };
const createWith = (by: Provider, walletId = WALLET) =>
  forward(
    gateway,
    funding,
    'createDeposit',
    { wallet_id: walletId, provider: by, fiat_currency: 'USD', fiat_amount: '50.00' },
    caller,
    options,
  ) as Promise<View>;
const get = (deposit_id: string) =>
  forward(gateway, funding, 'getDeposit', { deposit_id }, caller, options) as Promise<View>;
/** The code that the webhook's caller gets, `ok` for 200. */
const hook = (by: Provider, { body, headers }: SignedWebhook): Promise<string> =>
  forward(
    gateway,
    funding,
    'providerWebhook',
    {
      provider: by,
      environment: 'test',
      raw_body: Buffer.from(body).toString('base64'),
      raw_headers: headers,
    },
    { kind: 'none' },
    options,
  ).then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );
const until = async (deposit_id: string, good: (deposit: View) => boolean): Promise<View> => {
  for (const deadline = Date.now() + 25_000; ; await sleep(50)) {
    const deposit = await get(deposit_id);
    if (good(deposit)) return deposit;
    if (Date.now() > deadline) throw new Error(`did not come about: ${JSON.stringify(deposit)}`);
  }
};
const rowsOf = async (depositId: string) =>
  (await admin.query('select * from deposit_reports where deposit_id = $1 order by report_id', [depositId]))
    .rows;

/** A signed webhook of either provider, in MoonPay's words for the state. */
const CODES = {
  waitingPayment: 'AWAITING_PAYMENT',
  pending: 'IN_PROGRESS',
  completed: 'SUCCESS',
  failed: 'FAILED',
};
const tell = (
  { deposit_id, provider: by }: View,
  status: keyof typeof CODES,
  {
    hash = null,
    wallet: to = OWNER,
    payment,
  }: { hash?: string | null; wallet?: string; payment?: string } = {},
): Promise<string> => {
  const about = { deposit_id, wallet: to };
  if (by === 'moonpay') {
    const more = { status, cryptoTransactionId: hash, ...(payment && { id: payment }) };
    return hook(by, moonpayWebhook(KEYS.moonpay, moonpayEvent(about, more)));
  }
  const more = {
    status: `ONRAMP_TRANSACTION_STATUS_${CODES[status]}`,
    txHash: hash ?? '',
    ...(payment && { transactionId: payment }),
  };
  return hook(by, coinbaseWebhook(KEYS.coinbase, coinbaseEvent(about, more)));
};
let hashes = 0;
const newHash = () => encodeBase58(Buffer.alloc(64, ++hashes));
const land = (hash: string, ...amounts: string[]) =>
  chain.transfers.set(hash, {
    status: 'finalized',
    transfers: amounts.map((amount, index) => ({ instruction: `${index}`, source: AUTHORITY, amount })),
  });

const PROVIDERS = ['moonpay', 'coinbase'] as const;

test.each(PROVIDERS)('%s: from the page to the transfer on chain', async (by) => {
  const made = await createWith(by);
  expect(made).toMatchObject({ status: 'awaiting_payment', amount: null, tx_hash: null });
  expect(made.redirect_url).toMatch(by === 'moonpay' ? /&signature=/ : /^https:\/\/pay\.coinbase\.com\//);
  expect(await tell(made, 'pending')).toBe('ok');
  expect(await get(made.deposit_id)).toMatchObject({ status: 'processing', amount: AMOUNT });
  const hash = newHash();
  expect(await tell(made, 'completed', { hash })).toBe('ok');
  await sleep(1500);
  expect(await get(made.deposit_id)).toMatchObject({ status: 'settling', tx_hash: null, completed_at: null });
  land(hash, AMOUNT);
  const done = await until(made.deposit_id, ({ status }) => status === 'completed');
  expect(done).toMatchObject({ tx_hash: hash, amount: AMOUNT, redirect_url: null, problem: null });
  expect(done.completed_at).not.toBeNull();
});

const seconds = () => Math.floor(Date.now() / 1000);
const claim = (deposit_id: string) => moonpayEvent({ deposit_id, wallet: OWNER }, {});
const signed = (deposit_id: string) => moonpayWebhook(KEYS.moonpay, claim(deposit_id));
type Forge = (deposit: string) => SignedWebhook;
const FORGERIES: [string, Forge][] = [
  ['no signature', (id) => ({ ...signed(id), headers: {} })],
  ['an empty one', (id) => ({ ...signed(id), headers: { 'moonpay-signature-v2': '' } })],
  ['another key', (id) => moonpayWebhook('wk_test_other', claim(id))],
  ['the key that signs URLs', (id) => moonpayWebhook('sk', claim(id))],
  ['the other provider’s key', (id) => moonpayWebhook(KEYS.coinbase, claim(id))],
  ['the other provider’s signature', (id) => coinbaseWebhook(KEYS.moonpay, claim(id))],
  ['one space changed', (id) => ({ ...signed(id), body: signed(id).body.replace(':', ': ') })],
  ['a line feed more', (id) => ({ ...signed(id), body: `${signed(id).body}\n` })],
  ['the amount changed', (id) => ({ ...signed(id), body: signed(id).body.replace('48.5', '4850') })],
  ['the deposit changed', (id) => ({ ...signed(newId('dep')), body: signed(id).body })],
  ['older than five minutes', (id) => moonpayWebhook(KEYS.moonpay, claim(id), seconds() - 305)],
  ['from the future', (id) => moonpayWebhook(KEYS.moonpay, claim(id), seconds() + 305)],
];
test.each(FORGERIES)('a forged webhook is refused and leaves nothing: %s', async (_name, forge) => {
  const { deposit_id } = await createWith('moonpay');
  expect(await hook('moonpay', forge(deposit_id))).toBe('unauthorized');
  expect((await get(deposit_id)).status).toBe('awaiting_payment');
  expect(await rowsOf(deposit_id)).toEqual([]);
});

test('a webhook of one provider at the other’s address is refused', async () => {
  const { deposit_id } = await createWith('moonpay');
  expect(await hook('coinbase', signed(deposit_id))).toBe('unauthorized');
  const other = coinbaseEvent({ deposit_id, wallet: OWNER }, { partnerUserRef: `sandbox-${deposit_id}` });
  // Authentic, and about a deposit that is not this provider’s.
  expect(await hook('coinbase', coinbaseWebhook(KEYS.coinbase, other))).toBe('ok');
  expect((await get(deposit_id)).status).toBe('awaiting_payment');
  expect(await rowsOf(deposit_id)).toEqual([]);
});

test.each(PROVIDERS)('%s: one message 32 times at once is one report', async (by) => {
  const made = await createWith(by);
  const results = await Promise.all(Array.from({ length: 32 }, () => tell(made, 'pending')));
  expect(new Set(results)).toEqual(new Set(['ok']));
  expect((await get(made.deposit_id)).status).toBe('processing');
  expect(await rowsOf(made.deposit_id)).toHaveLength(1);
});

const ORDERS: ('waitingPayment' | 'pending' | 'completed')[][] = [
  ['waitingPayment', 'completed', 'pending'],
  ['pending', 'waitingPayment', 'completed'],
  ['pending', 'completed', 'waitingPayment'],
  ['completed', 'waitingPayment', 'pending'],
  ['completed', 'pending', 'waitingPayment'],
];
test.each(ORDERS)('never backwards: %s, %s, %s', async (...order) => {
  const made = await createWith('moonpay');
  const RANK = ['awaiting_payment', 'processing', 'settling', 'completed'];
  let rank = 0;
  const hash = newHash();
  for (const status of order) {
    expect(await tell(made, status, { hash: status === 'completed' ? hash : null })).toBe('ok');
    const now = RANK.indexOf((await get(made.deposit_id)).status);
    expect(now).toBeGreaterThanOrEqual(rank);
    rank = now;
  }
  expect(RANK[rank]).toBe('settling');
  land(hash, AMOUNT);
  await until(made.deposit_id, ({ status }) => status === 'completed');
  for (const status of ['waitingPayment', 'pending', 'failed', 'completed'] as const) {
    expect(await tell(made, status)).toBe('ok');
  }
  expect(await get(made.deposit_id)).toMatchObject({ status: 'completed', tx_hash: hash, problem: null });
});

test('the hash that a second word brings is looked for, and so is another one after a wrong one', async () => {
  const made = await createWith('moonpay');
  await tell(made, 'completed');
  const [wrong, right] = [newHash(), newHash()];
  chain.transfers.set(wrong, { status: 'failed', transfers: [] });
  await tell(made, 'completed', { hash: wrong });
  expect(await until(made.deposit_id, ({ problem }) => problem !== null)).toMatchObject({
    status: 'settling',
    problem: { code: 'no_transfer' },
  });
  land(right, AMOUNT);
  await tell(made, 'completed', { hash: right });
  expect(await until(made.deposit_id, ({ status }) => status === 'completed')).toMatchObject({
    tx_hash: right,
  });
});

test('one transfer, sixteen deposits that claim it at once: one is completed', async () => {
  const made = await Promise.all(Array.from({ length: 16 }, (_, i) => createWith(PROVIDERS[i % 2]!)));
  const hash = newHash();
  land(hash, AMOUNT);
  await Promise.all(made.map((deposit) => tell(deposit, 'completed', { hash })));
  const ends = await Promise.all(
    made.map(({ deposit_id }) =>
      until(deposit_id, ({ status, problem }) => status === 'completed' || problem !== null),
    ),
  );
  expect(ends.filter(({ status }) => status === 'completed')).toHaveLength(1);
  expect(ends.filter(({ problem }) => problem?.code === 'already_counted')).toHaveLength(15);
});

test('two transfers in one transaction complete two deposits', async () => {
  const made = [await createWith('moonpay'), await createWith('moonpay')];
  const hash = newHash();
  land(hash, AMOUNT, AMOUNT);
  for (const deposit of made) await tell(deposit, 'completed', { hash });
  for (const { deposit_id } of made) await until(deposit_id, ({ status }) => status === 'completed');
});

test('the provider sends to another wallet: nothing of it counts', async () => {
  const made = await createWith('coinbase');
  const elsewhere = encodeBase58(new Uint8Array(32).fill(9));
  expect(await tell(made, 'completed', { hash: newHash(), wallet: elsewhere })).toBe('ok');
  expect((await get(made.deposit_id)).status).toBe('awaiting_payment');
  expect(service.output()).toContain('deposit_mismatch');
});

test('without a word of the provider its API is asked; while it is away nothing ends', async () => {
  const made = await createWith('moonpay');
  const path = `/api/v1/transactions/ext/${made.deposit_id}`;
  await database.withClock('25 hours', async () => {
    for (let i = 0; i < 200 && !asked.includes(path); i++) await sleep(50);
    await sleep(500);
    expect((await get(made.deposit_id)).status).toBe('awaiting_payment');
  });
  const hash = newHash();
  land(hash, AMOUNT);
  const { data } = moonpayEvent(
    { deposit_id: made.deposit_id, wallet: OWNER },
    { cryptoTransactionId: hash },
  );
  answers.set(path, { status: 200, body: [data] });
  await database.withClock('26 hours', () => until(made.deposit_id, ({ status }) => status === 'completed'));
  expect((await rowsOf(made.deposit_id)).map(({ source }) => source)).toEqual(['poll']);
});

test('what nobody pays expires after a day, a bank transfer after a week, and late money still counts', async () => {
  const [plain, bank] = [await createWith('moonpay'), await createWith('moonpay')];
  for (const { deposit_id } of [plain, bank]) {
    answers.set(`/api/v1/transactions/ext/${deposit_id}`, { status: 200, body: [] });
  }
  await tell(bank, 'waitingPayment');
  await database.withClock('25 hours', async () => {
    await until(plain.deposit_id, ({ status }) => status === 'expired');
    expect((await get(bank.deposit_id)).status).toBe('awaiting_payment');
  });
  await database.withClock('8 days', () => until(bank.deposit_id, ({ status }) => status === 'expired'));
  const hash = newHash();
  land(hash, AMOUNT);
  await tell(bank, 'completed', { hash });
  await until(bank.deposit_id, ({ status }) => status === 'completed');
  expect((await get(plain.deposit_id)).status).toBe('expired');
});

test('a failed payment, its reason, and another one of the same customer', async () => {
  const made = await createWith('coinbase');
  await tell(made, 'failed', { payment: 'first' });
  expect(await get(made.deposit_id)).toMatchObject({
    status: 'failed',
    problem: { code: 'payment_refused' },
  });
  await tell(made, 'pending', { payment: 'first' });
  expect((await get(made.deposit_id)).status).toBe('failed');
  const hash = newHash();
  land(hash, AMOUNT);
  await tell(made, 'completed', { payment: 'second', hash });
  await tell(made, 'failed', { payment: 'first' });
  expect(await until(made.deposit_id, ({ status }) => status === 'completed')).toMatchObject({
    problem: null,
  });
});

test.each([
  ['refuses', 400, 'conflict'],
  ['does not know our key', 401, 'service_unavailable'],
  ['is away', 503, 'service_unavailable'],
])('a provider that %s (%d): no page, and the deposit says so', async (_name, status, code) => {
  answers.set(SESSIONS, { status, body: { errorMessage: 'their secret' } });
  const error = await createWith('coinbase').catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ code });
  const list = (await forward(gateway, funding, 'listDeposits', { limit: '1' }, caller, options)) as {
    data: View[];
  };
  expect(list.data[0]).toMatchObject({ status: 'failed', problem: { code: 'not_opened' } });
  expect(JSON.stringify(list)).not.toContain('their secret');
});

test('a wallet of nobody or of another account', async () => {
  await expect(createWith('moonpay', newId('wal'))).rejects.toMatchObject({ code: 'not_found' });
});

test('logs hold no page address, no key and no signed bytes', () => {
  const output = service.output();
  for (const secret of ['sessionToken', '&signature=', KEYS.moonpay, KEYS.coinbase, 'quoteCurrencyAmount']) {
    expect(output).not.toContain(secret);
  }
});

test('without keys a provider is not offered, and its webhooks have no address', async () => {
  await service.stop();
  service = await start({ MOONPAY: config.MOONPAY! });
  await expect(createWith('coinbase')).rejects.toMatchObject({ code: 'conflict' });
  expect(await hook('coinbase', coinbaseWebhook(KEYS.coinbase, {}))).toBe('not_found');
  expect(await createWith('moonpay')).toMatchObject({ status: 'awaiting_payment' });
});
