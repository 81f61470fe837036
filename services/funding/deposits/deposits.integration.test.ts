import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { encodeBase58 } from '../../../shared/lib/chain/base58.ts';
import { newId } from '../../../shared/lib/id.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  AMOUNT,
  type DepositsFixture,
  KEYS,
  newHash,
  OWNER,
  SESSIONS,
  startDepositsFixture,
} from '../../../test/support/fixtures/deposits.ts';
import type { ServiceProcess } from '../../../test/support/servers/service-process.ts';
import {
  coinbaseEvent,
  coinbaseWebhook,
  moonpayEvent,
  moonpayWebhook,
  type SignedWebhook,
} from '../../../test/support/stand-ins/webhooks.ts';

/** Tests deposits with every kind of webhook, in the service with a real database and bus. */

let fixture: DepositsFixture;
let service: ServiceProcess;

beforeAll(async () => {
  fixture = await startDepositsFixture();
  service = await fixture.start();
});
afterAll(() => fixture.stop());

beforeEach(() => {
  fixture.requests.length = 0;
  fixture.answers.clear();
  const page = { session: { onrampUrl: 'https://pay.coinbase.com/buy?sessionToken=abc' } };
  fixture.answers.set(SESSIONS, { status: 201, body: page });
});

const PROVIDERS = ['moonpay', 'coinbase'] as const;

test.each(PROVIDERS)('a deposit with %s completes when its transfer is on the chain', async (by) => {
  const made = await fixture.create(by);
  expect(made).toMatchObject({ status: 'awaiting_payment', amount: null, tx_hash: null });
  expect(made.redirect_url).toMatch(by === 'moonpay' ? /&signature=/ : /^https:\/\/pay\.coinbase\.com\//);
  expect(await fixture.report(made, 'pending')).toBe('ok');
  expect(await fixture.get(made.deposit_id)).toMatchObject({ status: 'processing', amount: AMOUNT });
  const hash = newHash();
  expect(await fixture.report(made, 'completed', { hash })).toBe('ok');
  // The chain was polled, and the transaction is not on it.
  await waitFor(
    () => fixture.pollCount(made.deposit_id),
    (count) => count >= 2,
  );
  expect(await fixture.get(made.deposit_id)).toMatchObject({
    status: 'settling',
    tx_hash: null,
    completed_at: null,
  });
  fixture.include(hash, AMOUNT);
  const done = await fixture.until(made.deposit_id, ({ status }) => status === 'completed');
  expect(done).toMatchObject({ tx_hash: hash, amount: AMOUNT, redirect_url: null, problem: null });
  expect(done.completed_at).not.toBeNull();
  await fixture.until(made.deposit_id, () => fixture.publishedStatuses(made.deposit_id).length >= 3);
  expect(fixture.publishedStatuses(made.deposit_id)).toEqual(['processing', 'settling', 'completed']);
});

const seconds = () => Math.floor(Date.now() / 1000);
const claim = (deposit_id: string) => moonpayEvent({ deposit_id, wallet: OWNER }, {});
const signed = (deposit_id: string) => moonpayWebhook(KEYS.moonpay, claim(deposit_id));
type Forge = (deposit: string) => SignedWebhook;
const FORGERIES: [string, Forge][] = [
  ['no signature', (id) => ({ ...signed(id), headers: {} })],
  ['an empty signature', (id) => ({ ...signed(id), headers: { 'moonpay-signature-v2': '' } })],
  ['signed by another key', (id) => moonpayWebhook('wk_test_other', claim(id))],
  ['signed by the key that signs URLs', (id) => moonpayWebhook('sk', claim(id))],
  ['signed by the other provider’s key', (id) => moonpayWebhook(KEYS.coinbase, claim(id))],
  ['signed in the other provider’s scheme', (id) => coinbaseWebhook(KEYS.moonpay, claim(id))],
  ['one space added in the body', (id) => ({ ...signed(id), body: signed(id).body.replace(':', ': ') })],
  ['a line feed appended', (id) => ({ ...signed(id), body: `${signed(id).body}\n` })],
  ['the amount changed', (id) => ({ ...signed(id), body: signed(id).body.replace('48.5', '4850') })],
  ['the deposit changed', (id) => ({ ...signed(newId('dep')), body: signed(id).body })],
  ['older than five minutes', (id) => moonpayWebhook(KEYS.moonpay, claim(id), seconds() - 305)],
  ['five minutes in the future', (id) => moonpayWebhook(KEYS.moonpay, claim(id), seconds() + 305)],
];
test.each(FORGERIES)('a forged webhook is refused and records nothing: %s', async (_name, forge) => {
  const { deposit_id } = await fixture.create('moonpay');
  expect(await fixture.sendWebhook('moonpay', forge(deposit_id))).toBe('unauthorized');
  expect((await fixture.get(deposit_id)).status).toBe('awaiting_payment');
  expect(await fixture.reports(deposit_id)).toEqual([]);
});

test('a webhook of one provider at the other’s address is refused', async () => {
  const { deposit_id } = await fixture.create('moonpay');
  expect(await fixture.sendWebhook('coinbase', signed(deposit_id))).toBe('unauthorized');
  const other = coinbaseEvent({ deposit_id, wallet: OWNER }, { partnerUserRef: `sandbox-${deposit_id}` });
  // This one is authentic, but the deposit belongs to the other provider.
  expect(await fixture.sendWebhook('coinbase', coinbaseWebhook(KEYS.coinbase, other))).toBe('ok');
  expect((await fixture.get(deposit_id)).status).toBe('awaiting_payment');
  expect(await fixture.reports(deposit_id)).toEqual([]);
});

test.each(PROVIDERS)('a message of %s that arrives 32 times concurrently is recorded once', async (by) => {
  const made = await fixture.create(by);
  const results = await Promise.all(Array.from({ length: 32 }, () => fixture.report(made, 'pending')));
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
test.each(ORDERS)(
  'the status never goes back when reports arrive in the order %s, %s, %s',
  async (...order) => {
    const made = await fixture.create('moonpay');
    const RANK = ['awaiting_payment', 'processing', 'settling', 'completed'];
    let rank = 0;
    const hash = newHash();
    for (const status of order) {
      expect(await fixture.report(made, status, { hash: status === 'completed' ? hash : null })).toBe('ok');
      const now = RANK.indexOf((await fixture.get(made.deposit_id)).status);
      expect(now).toBeGreaterThanOrEqual(rank);
      rank = now;
    }
    expect(RANK[rank]).toBe('settling');
    fixture.include(hash, AMOUNT);
    await fixture.until(made.deposit_id, ({ status }) => status === 'completed');
    for (const status of ['waitingPayment', 'pending', 'failed', 'completed'] as const) {
      expect(await fixture.report(made, status)).toBe('ok');
    }
    expect(await fixture.get(made.deposit_id)).toMatchObject({
      status: 'completed',
      tx_hash: hash,
      problem: null,
    });
  },
);

test('a transaction named by a later report is polled, and so is another one after a wrong one', async () => {
  const made = await fixture.create('moonpay');
  await fixture.report(made, 'completed');
  const [wrong, right] = [newHash(), newHash()];
  fixture.chain.observedTransfers.set(wrong, { status: 'failed', transfers: [] });
  await fixture.report(made, 'completed', { hash: wrong });
  expect(await fixture.until(made.deposit_id, ({ problem }) => problem !== null)).toMatchObject({
    status: 'settling',
    problem: { code: 'no_transfer' },
  });
  fixture.include(right, AMOUNT);
  await fixture.report(made, 'completed', { hash: right });
  expect(await fixture.until(made.deposit_id, ({ status }) => status === 'completed')).toMatchObject({
    tx_hash: right,
  });
});

test('of sixteen deposits whose reports name one transfer, one is completed', async () => {
  const made = await Promise.all(Array.from({ length: 16 }, (_, i) => fixture.create(PROVIDERS[i % 2]!)));
  const hash = newHash();
  fixture.include(hash, AMOUNT);
  await Promise.all(made.map((deposit) => fixture.report(deposit, 'completed', { hash })));
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
  fixture.include(hash, AMOUNT, AMOUNT);
  for (const deposit of made) await fixture.report(deposit, 'completed', { hash });
  for (const { deposit_id } of made) await fixture.until(deposit_id, ({ status }) => status === 'completed');
});

test('a report about a transfer to another wallet is dropped', async () => {
  const made = await fixture.create('coinbase');
  const elsewhere = encodeBase58(new Uint8Array(32).fill(9));
  expect(await fixture.report(made, 'completed', { hash: newHash(), wallet: elsewhere })).toBe('ok');
  expect((await fixture.get(made.deposit_id)).status).toBe('awaiting_payment');
  expect(service.output()).toContain('report dropped: the provider sends to another wallet');
});

test('without a webhook the provider’s API is polled, and while it fails the deposit does not expire', async () => {
  const made = await fixture.create('moonpay');
  const path = `/api/v1/transactions/ext/${made.deposit_id}`;
  await fixture.database.withClock('25 hours', async () => {
    // At the second request the first poll is over.
    await waitFor(
      () => fixture.requests.filter((each) => each === path).length,
      (count) => count >= 2,
    );
    expect((await fixture.get(made.deposit_id)).status).toBe('awaiting_payment');
  });
  const hash = newHash();
  fixture.include(hash, AMOUNT);
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

test('an unpaid deposit expires after a day, a bank transfer after a week, and a late payment completes it', async () => {
  const [plain, bank] = [await fixture.create('moonpay'), await fixture.create('moonpay')];
  for (const { deposit_id } of [plain, bank]) {
    fixture.answers.set(`/api/v1/transactions/ext/${deposit_id}`, { status: 200, body: [] });
  }
  await fixture.report(bank, 'waitingPayment');
  await fixture.database.withClock('25 hours', async () => {
    await fixture.until(plain.deposit_id, ({ status }) => status === 'expired');
    expect((await fixture.get(bank.deposit_id)).status).toBe('awaiting_payment');
  });
  await fixture.database.withClock('8 days', () =>
    fixture.until(bank.deposit_id, ({ status }) => status === 'expired'),
  );
  const hash = newHash();
  fixture.include(hash, AMOUNT);
  await fixture.report(bank, 'completed', { hash });
  await fixture.until(bank.deposit_id, ({ status }) => status === 'completed');
  expect((await fixture.get(plain.deposit_id)).status).toBe('expired');
});

test('a failed payment fails the deposit with its reason, and a second payment completes it', async () => {
  const made = await fixture.create('coinbase');
  await fixture.report(made, 'failed', { payment: 'first' });
  expect(await fixture.get(made.deposit_id)).toMatchObject({
    status: 'failed',
    problem: { code: 'payment_refused' },
  });
  await fixture.report(made, 'pending', { payment: 'first' });
  expect((await fixture.get(made.deposit_id)).status).toBe('failed');
  const hash = newHash();
  fixture.include(hash, AMOUNT);
  await fixture.report(made, 'completed', { payment: 'second', hash });
  await fixture.report(made, 'failed', { payment: 'first' });
  expect(await fixture.until(made.deposit_id, ({ status }) => status === 'completed')).toMatchObject({
    problem: null,
  });
});

test.each([
  ['refuses', 400, 'conflict'],
  ['does not know our key', 401, 'service_unavailable'],
  ['is unavailable', 503, 'service_unavailable'],
])('a provider that %s (status %d) makes no page, and the deposit fails', async (_name, status, code) => {
  fixture.answers.set(SESSIONS, { status, body: { errorMessage: 'their secret' } });
  const error = await fixture.create('coinbase').catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ code });
  const deposit = await fixture.newest();
  expect(deposit).toMatchObject({ status: 'failed', problem: { code: 'not_opened' } });
  expect(JSON.stringify([deposit, String(error)])).not.toContain('their secret');
});

test('a deposit into an unknown wallet is refused', async () => {
  await expect(fixture.create('moonpay', newId('wal'))).rejects.toMatchObject({ code: 'not_found' });
});

test('the logs contain no page address, no key and no signed bytes', async () => {
  for (const provider of PROVIDERS) {
    const made = await fixture.create(provider);
    expect(await fixture.report(made, 'pending')).toBe('ok');
  }
  const output = service.output();
  for (const secret of ['sessionToken', '&signature=', KEYS.moonpay, KEYS.coinbase, 'quoteCurrencyAmount']) {
    expect(output).not.toContain(secret);
  }
});

test('a provider without keys is not offered, and its webhooks are not found', async () => {
  await fixture.start({ MOONPAY: fixture.config.MOONPAY });
  await expect(fixture.create('coinbase')).rejects.toMatchObject({ code: 'conflict' });
  expect(await fixture.sendWebhook('coinbase', coinbaseWebhook(KEYS.coinbase, {}))).toBe('not_found');
  expect(await fixture.create('moonpay')).toMatchObject({ status: 'awaiting_payment' });
  service = await fixture.start();
});
