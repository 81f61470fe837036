import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { encodeBase58 } from '../../../shared/lib/base58.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  AMOUNT,
  type DepositsFixture,
  KEYS,
  newHash,
  OWNER,
  SESSIONS,
  startDepositsFixture,
} from '../../../test/support/deposits.ts';
import type { ServiceProcess } from '../../../test/support/service-process.ts';
import {
  coinbaseEvent,
  coinbaseWebhook,
  moonpayEvent,
  moonpayWebhook,
  type SignedWebhook,
} from '../../../test/support/webhooks.ts';

/** The state machine of deposits under webhooks of every kind. */

let fixture: DepositsFixture;
let service: ServiceProcess;

beforeAll(async () => {
  fixture = await startDepositsFixture();
  service = await fixture.start();
}, 60_000);
afterAll(() => fixture.stop());

beforeEach(() => {
  fixture.asked.length = 0;
  fixture.answers.clear();
  const page = { session: { onrampUrl: 'https://pay.coinbase.com/buy?sessionToken=abc' } };
  fixture.answers.set(SESSIONS, { status: 201, body: page });
});

const PROVIDERS = ['moonpay', 'coinbase'] as const;

test.each(PROVIDERS)('%s: from the page to the transfer on chain', async (by) => {
  const made = await fixture.create(by);
  expect(made).toMatchObject({ status: 'awaiting_payment', amount: null, tx_hash: null });
  expect(made.redirect_url).toMatch(by === 'moonpay' ? /&signature=/ : /^https:\/\/pay\.coinbase\.com\//);
  expect(await fixture.tell(made, 'pending')).toBe('ok');
  expect(await fixture.get(made.deposit_id)).toMatchObject({ status: 'processing', amount: AMOUNT });
  const hash = newHash();
  expect(await fixture.tell(made, 'completed', { hash })).toBe('ok');
  await sleep(1500);
  expect(await fixture.get(made.deposit_id)).toMatchObject({
    status: 'settling',
    tx_hash: null,
    completed_at: null,
  });
  fixture.land(hash, AMOUNT);
  const done = await fixture.until(made.deposit_id, ({ status }) => status === 'completed');
  expect(done).toMatchObject({ tx_hash: hash, amount: AMOUNT, redirect_url: null, problem: null });
  expect(done.completed_at).not.toBeNull();
  await fixture.until(made.deposit_id, () => fixture.toldOf(made.deposit_id).length >= 3);
  expect(fixture.toldOf(made.deposit_id)).toEqual(['processing', 'settling', 'completed']);
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
  const { deposit_id } = await fixture.create('moonpay');
  expect(await fixture.hook('moonpay', forge(deposit_id))).toBe('unauthorized');
  expect((await fixture.get(deposit_id)).status).toBe('awaiting_payment');
  expect(await fixture.reports(deposit_id)).toEqual([]);
});

test('a webhook of one provider at the other’s address is refused', async () => {
  const { deposit_id } = await fixture.create('moonpay');
  expect(await fixture.hook('coinbase', signed(deposit_id))).toBe('unauthorized');
  const other = coinbaseEvent({ deposit_id, wallet: OWNER }, { partnerUserRef: `sandbox-${deposit_id}` });
  // Authentic, and about a deposit that is not this provider’s.
  expect(await fixture.hook('coinbase', coinbaseWebhook(KEYS.coinbase, other))).toBe('ok');
  expect((await fixture.get(deposit_id)).status).toBe('awaiting_payment');
  expect(await fixture.reports(deposit_id)).toEqual([]);
});

test.each(PROVIDERS)('%s: one message 32 times at once is one report', async (by) => {
  const made = await fixture.create(by);
  const results = await Promise.all(Array.from({ length: 32 }, () => fixture.tell(made, 'pending')));
  expect(new Set(results)).toEqual(new Set(['ok']));
  expect((await fixture.get(made.deposit_id)).status).toBe('processing');
  expect(await fixture.reports(made.deposit_id)).toHaveLength(1);
});

const ORDERS: ('waitingPayment' | 'pending' | 'completed')[][] = [
  ['waitingPayment', 'completed', 'pending'],
  ['pending', 'waitingPayment', 'completed'],
  ['pending', 'completed', 'waitingPayment'],
  ['completed', 'waitingPayment', 'pending'],
  ['completed', 'pending', 'waitingPayment'],
];
test.each(ORDERS)('never backwards: %s, %s, %s', async (...order) => {
  const made = await fixture.create('moonpay');
  const RANK = ['awaiting_payment', 'processing', 'settling', 'completed'];
  let rank = 0;
  const hash = newHash();
  for (const status of order) {
    expect(await fixture.tell(made, status, { hash: status === 'completed' ? hash : null })).toBe('ok');
    const now = RANK.indexOf((await fixture.get(made.deposit_id)).status);
    expect(now).toBeGreaterThanOrEqual(rank);
    rank = now;
  }
  expect(RANK[rank]).toBe('settling');
  fixture.land(hash, AMOUNT);
  await fixture.until(made.deposit_id, ({ status }) => status === 'completed');
  for (const status of ['waitingPayment', 'pending', 'failed', 'completed'] as const) {
    expect(await fixture.tell(made, status)).toBe('ok');
  }
  expect(await fixture.get(made.deposit_id)).toMatchObject({
    status: 'completed',
    tx_hash: hash,
    problem: null,
  });
});

test('the hash that a second word brings is looked for, and so is another one after a wrong one', async () => {
  const made = await fixture.create('moonpay');
  await fixture.tell(made, 'completed');
  const [wrong, right] = [newHash(), newHash()];
  fixture.chain.landed.set(wrong, { status: 'failed', transfers: [] });
  await fixture.tell(made, 'completed', { hash: wrong });
  expect(await fixture.until(made.deposit_id, ({ problem }) => problem !== null)).toMatchObject({
    status: 'settling',
    problem: { code: 'no_transfer' },
  });
  fixture.land(right, AMOUNT);
  await fixture.tell(made, 'completed', { hash: right });
  expect(await fixture.until(made.deposit_id, ({ status }) => status === 'completed')).toMatchObject({
    tx_hash: right,
  });
});

test('one transfer, sixteen deposits that claim it at once: one is completed', async () => {
  const made = await Promise.all(Array.from({ length: 16 }, (_, i) => fixture.create(PROVIDERS[i % 2]!)));
  const hash = newHash();
  fixture.land(hash, AMOUNT);
  await Promise.all(made.map((deposit) => fixture.tell(deposit, 'completed', { hash })));
  const ends = await Promise.all(
    made.map(({ deposit_id }) =>
      fixture.until(deposit_id, ({ status, problem }) => status === 'completed' || problem !== null),
    ),
  );
  expect(ends.filter(({ status }) => status === 'completed')).toHaveLength(1);
  expect(ends.filter(({ problem }) => problem?.code === 'already_counted')).toHaveLength(15);
});

test('two transfers in one transaction complete two deposits', async () => {
  const made = [await fixture.create('moonpay'), await fixture.create('moonpay')];
  const hash = newHash();
  fixture.land(hash, AMOUNT, AMOUNT);
  for (const deposit of made) await fixture.tell(deposit, 'completed', { hash });
  for (const { deposit_id } of made) await fixture.until(deposit_id, ({ status }) => status === 'completed');
});

test('the provider sends to another wallet: nothing of it counts', async () => {
  const made = await fixture.create('coinbase');
  const elsewhere = encodeBase58(new Uint8Array(32).fill(9));
  expect(await fixture.tell(made, 'completed', { hash: newHash(), wallet: elsewhere })).toBe('ok');
  expect((await fixture.get(made.deposit_id)).status).toBe('awaiting_payment');
  expect(service.output()).toContain('the provider sends to another wallet');
});

test('without a word of the provider its API is asked; while it is away nothing ends', async () => {
  const made = await fixture.create('moonpay');
  const path = `/api/v1/transactions/ext/${made.deposit_id}`;
  await fixture.database.withClock('25 hours', async () => {
    for (let i = 0; i < 200 && !fixture.asked.includes(path); i++) await sleep(50);
    await sleep(500);
    expect((await fixture.get(made.deposit_id)).status).toBe('awaiting_payment');
  });
  const hash = newHash();
  fixture.land(hash, AMOUNT);
  const { data } = moonpayEvent(
    { deposit_id: made.deposit_id, wallet: OWNER },
    { cryptoTransactionId: hash },
  );
  fixture.answers.set(path, { status: 200, body: [data] });
  await fixture.database.withClock('26 hours', () =>
    fixture.until(made.deposit_id, ({ status }) => status === 'completed'),
  );
  expect((await fixture.reports(made.deposit_id)).map(({ source }) => source)).toEqual(['poll']);
});

test('what nobody pays expires after a day, a bank transfer after a week, and late money still counts', async () => {
  const [plain, bank] = [await fixture.create('moonpay'), await fixture.create('moonpay')];
  for (const { deposit_id } of [plain, bank]) {
    fixture.answers.set(`/api/v1/transactions/ext/${deposit_id}`, { status: 200, body: [] });
  }
  await fixture.tell(bank, 'waitingPayment');
  await fixture.database.withClock('25 hours', async () => {
    await fixture.until(plain.deposit_id, ({ status }) => status === 'expired');
    expect((await fixture.get(bank.deposit_id)).status).toBe('awaiting_payment');
  });
  await fixture.database.withClock('8 days', () =>
    fixture.until(bank.deposit_id, ({ status }) => status === 'expired'),
  );
  const hash = newHash();
  fixture.land(hash, AMOUNT);
  await fixture.tell(bank, 'completed', { hash });
  await fixture.until(bank.deposit_id, ({ status }) => status === 'completed');
  expect((await fixture.get(plain.deposit_id)).status).toBe('expired');
});

test('a failed payment, its reason, and another one of the same customer', async () => {
  const made = await fixture.create('coinbase');
  await fixture.tell(made, 'failed', { payment: 'first' });
  expect(await fixture.get(made.deposit_id)).toMatchObject({
    status: 'failed',
    problem: { code: 'payment_refused' },
  });
  await fixture.tell(made, 'pending', { payment: 'first' });
  expect((await fixture.get(made.deposit_id)).status).toBe('failed');
  const hash = newHash();
  fixture.land(hash, AMOUNT);
  await fixture.tell(made, 'completed', { payment: 'second', hash });
  await fixture.tell(made, 'failed', { payment: 'first' });
  expect(await fixture.until(made.deposit_id, ({ status }) => status === 'completed')).toMatchObject({
    problem: null,
  });
});

test.each([
  ['refuses', 400, 'conflict'],
  ['does not know our key', 401, 'service_unavailable'],
  ['is away', 503, 'service_unavailable'],
])('a provider that %s (%d): no page, and the deposit says so', async (_name, status, code) => {
  fixture.answers.set(SESSIONS, { status, body: { errorMessage: 'their secret' } });
  const error = await fixture.create('coinbase').catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ code });
  const deposit = await fixture.newest();
  expect(deposit).toMatchObject({ status: 'failed', problem: { code: 'not_opened' } });
  expect(JSON.stringify([deposit, String(error)])).not.toContain('their secret');
});

test('a wallet of nobody or of another account', async () => {
  await expect(fixture.create('moonpay', newId('wal'))).rejects.toMatchObject({ code: 'not_found' });
});

test('logs hold no page address, no key and no signed bytes', () => {
  const output = service.output();
  for (const secret of ['sessionToken', '&signature=', KEYS.moonpay, KEYS.coinbase, 'quoteCurrencyAmount']) {
    expect(output).not.toContain(secret);
  }
});

test('without keys a provider is not offered, and its webhooks have no address', async () => {
  await fixture.start({ MOONPAY: fixture.config.MOONPAY });
  await expect(fixture.create('coinbase')).rejects.toMatchObject({ code: 'conflict' });
  expect(await fixture.hook('coinbase', coinbaseWebhook(KEYS.coinbase, {}))).toBe('not_found');
  expect(await fixture.create('moonpay')).toMatchObject({ status: 'awaiting_payment' });
});
