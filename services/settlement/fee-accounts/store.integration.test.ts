import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { PLATFORM_ACCOUNT_ID, PLATFORM_SERVICE_ID } from '../../../shared/contract/platform.ts';
import {
  callsOf,
  type Key,
  newKey,
  owedOf,
  pendingRow,
} from '../../../test/support/fixtures/settlement/incoming-calls.ts';
import {
  admin,
  callAs,
  paid,
  publishProgress,
  quote,
  startFixture,
  stopFixture,
  until,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { newTransaction, txOf } from '../../../test/support/fixtures/settlement/settlement-incoming.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { waitingForLocks } from '../../../test/support/servers/database.ts';

/** The fees that x402 payments accrue, over payments that fail and accounts that pay. */
beforeAll(startFixture);
afterAll(stopFixture);

const FEE = 2001n;

let key: Key;
beforeEach(() => {
  key = newKey();
});
const { settle, verify } = callsOf(() => key);

const EXPIRED = { code: 'payment_failed', message: 'the transaction expired' } as const;
const REFUSED = { code: 'insufficient_funds', message: 'the chain refused the transaction' } as const;
const shown = (settlement_id: string) =>
  callAs<{ status: string; accrued_fee: string }>(key, 'get', { settlement_id });

test('a payment that the chain has included and refused keeps its fee, and one that expired returns it', async () => {
  for (const [slot, failure, kept] of [
    [101, REFUSED, FEE],
    [null, EXPIRED, 0n],
  ] as const) {
    key = newKey();
    const transaction = newTransaction();
    const answer = settle(transaction);
    const { settlement_id } = await pendingRow(transaction);
    expect(await owedOf(key.account_id)).toBe(`${FEE}`);
    await publishProgress(settlement_id, 'failed', { tx_hash: txOf(transaction), slot, failure });
    await untilChainStatus(settlement_id, 'failed');
    expect(await answer).toMatchObject({ success: false, error: { money_moved: 'no' } });
    expect(await owedOf(key.account_id)).toBe(`${kept}`);
    expect(await shown(settlement_id)).toMatchObject({ status: 'failed', accrued_fee: `${kept}` });
    // A repeat of the event counts once.
    await publishProgress(settlement_id, 'failed', { tx_hash: txOf(transaction), slot, failure });
    expect(await owedOf(key.account_id)).toBe(`${kept}`);
  }
});

test('payments that are made to fail on chain use up the credit of their vendor', async () => {
  const owed = 100_000n - FEE;
  await admin.query('insert into fee_accounts (account_id, accrued) values ($1, $2)', [
    key.account_id,
    String(owed),
  ]);
  const transaction = newTransaction();
  const answer = settle(transaction);
  const { settlement_id } = await pendingRow(transaction);
  await publishProgress(settlement_id, 'failed', { tx_hash: txOf(transaction), failure: REFUSED });
  await answer;
  expect(await settle(newTransaction())).toMatchObject({ errorReason: 'facilitator_credit_exhausted' });
});

test('a payment waits for the fee that another replica adds to the account, and is refused by it', async () => {
  const { account_id } = key;
  const left = 100_000n - FEE;
  await admin.query('insert into fee_accounts (account_id, accrued) values ($1, $2)', [
    account_id,
    String(left),
  ]);
  const other = await admin.connect();
  try {
    await other.query('begin');
    const add = 'update fee_accounts set accrued = accrued + $2 where account_id = $1';
    await other.query(add, [account_id, String(FEE)]);
    const answer = settle(newTransaction());
    await until(
      () => waitingForLocks(admin),
      (statements) => statements > 0,
    );
    await other.query('commit');
    expect(await answer).toMatchObject({ errorReason: 'facilitator_credit_exhausted' });
    expect(await owedOf(account_id)).toBe('100000');
  } finally {
    other.release(true);
  }
});

test.each<[paid: bigint, credit: bigint]>([
  [0n, 100_000n],
  [1n, 100_000n],
  [50_000n, 200_000n],
  [1_250_000n, 5_000_000n],
  [900_000_000n, 5_000_000n],
])('an account that has paid %s micro-units of fees may owe %s', async (paidMicro, credit) => {
  const insert = (accrued: bigint) =>
    admin.query(
      `insert into fee_accounts (account_id, accrued, paid) values ($1, $2, $3)
       on conflict (account_id) do update set accrued = excluded.accrued`,
      [key.account_id, String(accrued), String(paidMicro)],
    );
  const full = paidMicro + credit - FEE;
  await insert(full + 1n);
  expect(await callAs(key, 'getFees', {})).toMatchObject({ credit: `${credit}` });
  const refused = newTransaction();
  expect(await verify(refused)).toMatchObject({ invalidReason: 'facilitator_credit_exhausted' });
  expect(await settle(refused)).toMatchObject({ errorReason: 'facilitator_credit_exhausted' });
  await insert(full);
  const transaction = newTransaction();
  expect(await verify(transaction)).toMatchObject({ isValid: true });
  const answer = settle(transaction);
  await publishProgress((await pendingRow(transaction)).settlement_id, 'confirmed', {
    tx_hash: txOf(transaction),
  });
  expect(await answer).toMatchObject({ success: true });
});

test('fees count for the account of their quote, whoever pays, and a reversal takes them from it', async () => {
  await admin.query('insert into fee_accounts (account_id, accrued) values ($1, 30000)', [key.account_id]);
  const of = { account_id: PLATFORM_ACCOUNT_ID, service_id: PLATFORM_SERVICE_ID };
  const feeQuote = quote(30_000n, { of, scope: { account_id: key.account_id } });
  const payer = consumer();
  const { settlementId } = await paid(payer, feeQuote);
  const sums = async (account: string) =>
    (await admin.query('select accrued::text, paid::text from fee_accounts where account_id = $1', [account]))
      .rows[0];
  expect(await sums(key.account_id)).toEqual({ accrued: '30000', paid: '30000' });
  expect(await sums(payer.account_id)).toBeUndefined();
  await publishProgress(settlementId, 'reopened');
  await untilChainStatus(settlementId, 'pending');
  await publishProgress(settlementId, 'failed', { slot: null, failure: EXPIRED });
  await untilChainStatus(settlementId, 'failed');
  expect(await sums(key.account_id)).toEqual({ accrued: '30000', paid: '0' });
});
