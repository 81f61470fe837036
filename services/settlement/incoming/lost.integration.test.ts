import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  callsOf,
  changeService,
  confirm,
  type Key,
  newKey,
} from '../../../test/support/fixtures/settlement/incoming-calls.ts';
import { refusal } from '../../../test/support/fixtures/settlement/outgoing-calls.ts';
import {
  admin,
  callAs,
  startFixture,
  stopFixture,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  hashOf,
  newTransaction,
  SOURCE,
  submitter,
} from '../../../test/support/fixtures/settlement/settlement-incoming.ts';

/** Payments that are refused as new ones after a restore, which may have lost their record. */
let key: Key;
beforeAll(startFixture);
afterAll(stopFixture);
beforeEach(async () => {
  key = newKey();
  await admin.query(`insert into restores (taken_at) values (app_now() - interval '1 hour')`);
});
afterEach(async () => {
  await admin.query('delete from restores');
});
const { settle, verify } = callsOf(() => key);

const unknown = { code: 'service_unavailable', money_moved: 'unknown', safe_action: 'retry_same_attempt' };
const accept = (transaction: string, rest: object = {}) =>
  callAs<{ status: string }>(key, 'acceptForeign', {
    ...{ rail: 'mpp', quote_amount: '50000', memo: 'offer-1', transaction, redeem_id: 'delivery-1' },
    ...rest,
  });

/** Reasons for which a payment is refused as a new one: its bytes, and its vendor. */
const reasons: [string, (transaction: string) => unknown][] = [
  [
    'the policy refuses its bytes today',
    (transaction) =>
      submitter.checks.set(hashOf(transaction), {
        ...{ outcome: 'refused', reason: 'amount_mismatch', message: 'another amount' },
      }),
  ],
  ['the service closes', () => changeService(key, { status: 'closing' })],
  [
    'the credit for accrued fees is used up',
    () =>
      admin.query('insert into fee_accounts (account_id, accrued) values ($1, 1000000000)', [key.account_id]),
  ],
];

describe.each(reasons)('a payment that the chain has, when %s', (_reason, prepare) => {
  let transaction: string;
  beforeEach(async () => {
    transaction = newTransaction();
    submitter.lost.add(hashOf(transaction));
    await prepare(transaction);
  });

  test('is not denied by verify or settle', async () => {
    expect(await refusal(settle(transaction))).toMatchObject(unknown);
    expect(await refusal(verify(transaction))).toMatchObject(unknown);
    expect(await refusal(accept(transaction, { rail: 'x402', memo: undefined }))).toMatchObject(unknown);
  });

  test('is refused as one that was not made, if the chain does not have it', async () => {
    submitter.lost.delete(hashOf(transaction));
    expect(await settle(transaction)).toMatchObject({ success: false, error: { money_moved: 'no' } });
    expect(await verify(transaction)).toMatchObject({ isValid: false, error: { money_moved: 'no' } });
    expect(await refusal(accept(transaction, { rail: 'x402', memo: undefined }))).toMatchObject({
      money_moved: 'no',
    });
  });
});

test('a payment of x402 whose request names another payee is not denied either', async () => {
  const transaction = newTransaction();
  submitter.lost.add(hashOf(transaction));
  expect(await refusal(settle(transaction, { payTo: SOURCE }))).toMatchObject(unknown);
});

test('without a restore the chain is not asked', async () => {
  const transaction = newTransaction();
  submitter.lost.add(hashOf(transaction));
  await admin.query('delete from restores');
  changeService(key, { status: 'closing' });
  expect(await settle(transaction)).toMatchObject({ success: false, error: { money_moved: 'no' } });
});

test('when the reason is removed, the payment is accepted and its success is handed out', async () => {
  const transaction = newTransaction();
  submitter.lost.add(hashOf(transaction));
  changeService(key, { status: 'closing' });
  expect(await refusal(settle(transaction))).toMatchObject(unknown);
  changeService(key, { status: 'active' });
  const answer = settle(transaction);
  await confirm(transaction);
  expect(await answer).toMatchObject({ success: true });
});
