import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { call, forward } from '../../../shared/bus/call.ts';
import type { Bus } from '../../../shared/bus/connect.ts';
import { settlement } from '../../../shared/contract/index.ts';
import { newId } from '../../../shared/lib/id.ts';
import { pageHandleOf } from '../../../shared/lib/page-handle.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  confirm,
  type Key,
  newKey,
  owedOf,
  rowOf,
} from '../../../test/support/fixtures/settlement/incoming-calls.ts';
import {
  admin,
  callAs,
  database,
  deps,
  outcome,
  publishProgress,
  quote,
  startFixture,
  stopFixture,
  testBus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  hashOf,
  newTransaction,
  PAYER,
  submitter,
  txOf,
} from '../../../test/support/fixtures/settlement/settlement-incoming.ts';
import { onSettleProgressed } from '../settlements/on-chain-submitter-settle-progressed.ts';
import { resumeIncoming } from './resume-incoming.ts';

/**
 * Payments of links whose buyer signs last (docs/adr/0080), over a real database and bus, with
 * chain-submitter as a stand-in.
 */
let quoteBus: Bus;
let gateway: Bus;
beforeAll(async () => {
  await startFixture();
  [quoteBus, gateway] = await Promise.all([testBus.as('quote'), testBus.as('gateway')]);
});
afterAll(stopFixture);

let key: Key;
let payment_link_id: string;
let secret: string;
beforeEach(() => {
  key = newKey();
  payment_link_id = newId('pl');
  secret = newSecret();
});

const newSecret = () => createHash('sha256').update(newId('evt')).digest('base64url');
const handleOf = (text: string) => pageHandleOf(text, payment_link_id);
const linkQuote = () =>
  quote(50_000n, {
    of: key,
    scope: {
      resource: 'https://api.example.com/pay',
      payment_link: { payment_link_id, title: 'Tour', success_url: null, memo: '0.05 USDC to Weather (q)' },
    },
  });
type Asked = { transaction?: string; handle?: string; asked_from?: string | null };
/** Asks for the transaction of a quote of the link. @returns the one that was built, and signed */
const ask = async ({
  transaction = newTransaction(),
  handle = handleOf(secret),
  asked_from = null,
}: Asked = {}) => {
  submitter.built.push(transaction);
  const { quote_token } = linkQuote();
  const asked = { quote_token, account: PAYER, handle, asked_from };
  const { transaction: signed } = await call(quoteBus, settlement, 'payLinkByPhone', asked, {
    timeoutMs: 20_000,
  });
  return { transaction, signed };
};
type Followed = { status: string; settlement_id?: string; tx_hash?: string; receipt_url?: string };
const follow = (of = secret, link = payment_link_id) =>
  forward(
    gateway,
    settlement,
    'followPhonePayment',
    { environment: 'test', payment_link_id: link, secret: of },
    { kind: 'none' },
    { timeoutMs: 20_000, headers: {} },
  ) as Promise<Followed>;
const settlementsOf = async () =>
  (await admin.query('select status from settlements where service_id = $1', [key.service_id])).rows;
const failed = async (transaction: string, slot: number | null) => {
  const { settlement_id } = await rowOf(transaction);
  const failure = { code: 'payment_failed' as const, message: 'it failed' };
  await publishProgress(settlement_id, 'failed', { tx_hash: txOf(transaction), slot, failure });
  return settlement_id as string;
};

test('it is recorded with its quote before it is signed, and the page of its code alone follows it', async () => {
  expect(await follow()).toEqual({ status: 'waiting' });
  const { transaction, signed } = await ask();
  expect(hashOf(signed)).toBe(hashOf(transaction));
  expect(signed).not.toBe(transaction);
  expect(await rowOf(transaction)).toMatchObject({
    ...{ rail: 'x402', status: 'pending', page_handle: handleOf(secret), open_link_id: payment_link_id },
  });
  expect(await follow()).toEqual({ status: 'pending' });
  expect(await follow(newSecret())).toEqual({ status: 'waiting' });
  // The handle is in the code, and is no secret.
  expect(await follow(handleOf(secret))).toEqual({ status: 'waiting' });

  const settlement_id = await confirm(transaction);
  const paid = await waitFor(follow, ({ status }) => status === 'confirmed');
  expect(paid).toEqual({
    ...{ settlement_id, status: 'confirmed', tx_hash: txOf(transaction) },
    receipt_url: expect.stringMatching(/^https:\/\/api\.example\.com\/receipt#/),
  });
  expect(await callAs(key, 'get', { settlement_id })).toMatchObject({
    ...{ rail: 'x402', status: 'issued', quote_amount: '50000', accrued_fee: '2001' },
    scope: { payment_link: { title: 'Tour' } },
  });
});

test('asked twice, both can be paid, each once', async () => {
  const [one, other] = [await ask(), await ask()];
  await confirm(one.transaction);
  await confirm(other.transaction);
  await waitFor(settlementsOf, (rows) => rows.every(({ status }) => status === 'issued'));
  expect(await settlementsOf()).toHaveLength(2);
});

test('one that never came on chain leaves nothing, and its fee is returned', async () => {
  const { transaction } = await ask();
  expect(await owedOf(key.account_id)).toBe('2001');
  const settlementId = await failed(transaction, null);
  await waitFor(settlementsOf, (rows) => rows.length === 0);
  expect(await owedOf(key.account_id)).toBe('0');
  expect(await follow()).toEqual({ status: 'waiting' });
  const { rows } = await admin.query('select from outbox where payload::text like $1', [`%${settlementId}%`]);
  expect(rows).toEqual([]);
  // The event is delivered again, and the code is scanned again.
  const failure = { code: 'payment_failed' as const, message: 'it failed' };
  const again = { object_id: settlementId, status: 'failed' as const, generation: 1, failure };
  await onSettleProgressed(deps)({ ...again, tx_hash: txOf(transaction), slot: null });
  await confirm((await ask()).transaction);
  await waitFor(follow, ({ status }) => status === 'confirmed');
});

test('one that the chain has refused is kept, with its fee', async () => {
  const { transaction } = await ask();
  await failed(transaction, 7);
  await waitFor(follow, ({ status }) => status === 'failed');
  expect(await settlementsOf()).toEqual([{ status: 'failed' }]);
  expect(await owedOf(key.account_id)).toBe('2001');
});

test('what chain-submitter refuses leaves nothing', async () => {
  const transaction = newTransaction();
  const refusal = { outcome: 'refused', reason: 'source_blocked', message: 'no' } as const;
  submitter.submits.set(hashOf(transaction), refusal);
  expect(await outcome(ask({ transaction }))).toBe('conflict');
  expect(await settlementsOf()).toEqual([]);
  const poor = newTransaction();
  submitter.checks.set(hashOf(poor), { ...refusal, reason: 'insufficient_funds' });
  expect(await outcome(ask({ transaction: poor }))).toBe('insufficient_funds');
  expect(await settlementsOf()).toEqual([]);
});

test('one that was recorded and not signed is closed by the sweep, and leaves nothing', async () => {
  const { transaction } = await ask();
  const { settlement_id } = await rowOf(transaction);
  const nothing = { object_id: settlement_id, generation: 0, tx_hash: null, slot: null };
  const sweep = resumeIncoming({
    ...deps,
    closeIncoming: async () => ({
      ...nothing,
      status: 'failed',
      failure: { code: 'payment_failed', message: 'it was closed' },
    }),
  });
  await database.withClock('3 minutes', sweep);
  expect(await settlementsOf()).toEqual([]);
});

test('a page follows no payment of another link, whoever has asked for it with the handle that its code shows', async () => {
  const [own, shown] = [payment_link_id, handleOf(secret)];
  const other = { key: newKey(), payment_link_id: newId('pl') };
  ({ key, payment_link_id } = other);
  const { transaction } = await ask({ handle: shown });
  await confirm(transaction);
  await waitFor(settlementsOf, ([row]) => row?.status === 'issued');
  expect(await follow(secret, own)).toEqual({ status: 'waiting' });
  expect(await follow(secret, other.payment_link_id)).toEqual({ status: 'waiting' });
});

describe('of many at once', () => {
  /** Asks that nothing but the number of open payments can refuse. */
  const askAtOnce = async (networks: readonly string[]) => {
    await admin.query('insert into fee_accounts (account_id, accrued, paid) values ($1, $2, $2)', [
      ...[key.account_id, 10_000_000],
    ]);
    const asked = await Promise.all(networks.map((asked_from) => outcome(ask({ asked_from }))));
    const count = (of: string) => asked.filter((each) => each === of).length;
    return { open: count('ok'), refused: count('conflict') };
  };
  const networks = (count: number) => Array.from({ length: count }, (_, number) => `203.0.${number}.0/24`);
  const newLink = (of = newKey()) => {
    key = of;
    payment_link_id = newId('pl');
  };
  beforeEach(() =>
    admin.query(
      'delete from settlements where settlement_id in (select settlement_id from incoming_payments where open_link_id is not null)',
    ),
  );

  test('as many are open as the link may have, and another link is not held up', async () => {
    expect(await askAtOnce(networks(70))).toEqual({ open: 64, refused: 6 });
    newLink(key);
    await ask();
  });

  test('a vendor has a share of all, whatever its links and whoever asks', async () => {
    const { open } = await askAtOnce(networks(60));
    newLink(key);
    await admin.query('delete from fee_accounts where account_id = $1', [key.account_id]);
    expect(open + (await askAtOnce(networks(60))).open).toBe(103);
    newLink();
    await ask();
  });

  test('twelve networks do not close the links of all vendors', async () => {
    const twelve = networks(12);
    let open = 0;
    for (let link = 0; link < 8; link += 1) {
      newLink();
      open += (await askAtOnce(Array.from({ length: 36 }, (_, number) => twelve[number % 12]!))).open;
    }
    expect(open).toBe(12 * 16);
    newLink();
    expect(await outcome(ask({ asked_from: twelve[0]! }))).toBe('conflict');
    await ask({ asked_from: '198.51.100.0/24' });
  });

  test('from where one was asked for is known until it has ended', async () => {
    const asked_from = '203.0.113.0/24';
    const [paid, refused] = [await ask({ asked_from }), await ask({ asked_from })];
    expect(await rowOf(paid.transaction)).toMatchObject({ asked_from });
    await confirm(paid.transaction);
    await failed(refused.transaction, 7);
    await waitFor(settlementsOf, (rows) => rows.every(({ status }) => status !== 'pending'));
    for (const { transaction } of [paid, refused])
      expect(await rowOf(transaction)).toMatchObject({ asked_from: null });
  });
});
