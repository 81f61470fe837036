import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import {
  callsOf,
  changeService,
  confirm,
  type Key,
  newKey,
  owedOf,
  pendingRow,
  rowOf,
  sent,
} from '../../../test/support/fixtures/settlement/incoming-calls.ts';
import {
  admin,
  callAs,
  deps,
  publishProgress,
  startFixture,
  stopFixture,
  untilChainStatus,
  untilEventsHandled,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  FEE_PAYER,
  hashOf,
  incomingSettings,
  newTransaction,
  SOURCE,
  submitter,
  txOf,
  x402Request,
} from '../../../test/support/fixtures/settlement/settlement-incoming.ts';
import { getAccountActivity } from '../reading/get-account-activity.ts';
import { getSettlementActivity } from '../reading/get-settlement-activity.ts';
import { onSettleProgressed } from '../settlements/on-chain-submitter-settle-progressed.ts';
import { x402Settle } from './x402-settle.ts';

/**
 * Payments that have a record, presented again after the service, its fees or the request have
 * changed: the record decides, not the configuration of today.
 */
beforeAll(startFixture);
afterAll(stopFixture);

let key: Key;
beforeEach(() => {
  key = newKey();
});
const { settle, settled, verify } = callsOf(() => key);

const accept = (transaction: string, redeem_id: string, rest: object = {}) =>
  callAs<{ status: string; replayed?: boolean }>(key, 'acceptForeign', {
    ...{ rail: 'mpp', quote_amount: '50000', memo: 'offer-1', transaction, redeem_id },
    ...rest,
  });
/** What the error of a call says about the money. */
const moneyMoved = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'accepted',
    (error: unknown) => (error instanceof ServiceError ? error.extras.money_moved : error),
  );
/** Refunds the whole net, or reserves it for a refund. */
const refundWhole = (transaction: string) =>
  admin.query(
    `update settlements as s set refund_reserved = quote_amount - fee_amount
     from incoming_payments as i where i.settlement_id = s.settlement_id and message_hash = $1`,
    [hashOf(transaction)],
  );
/** What the policy answers for legs, fee payers or accounts that are no longer those of today. */
const REFUSED = { outcome: 'refused', reason: 'amount_mismatch', message: 'another amount' } as const;

describe('a payment that is paid', () => {
  let transaction: string;
  beforeEach(async () => {
    transaction = newTransaction();
    const first = settle(transaction);
    await confirm(transaction);
    expect((await first).success).toBe(true);
    // The answer with the success was lost.
    await admin.query(
      'update incoming_payments set handed_out_at = null, hand_out_id = null where message_hash = $1',
      [hashOf(transaction)],
    );
  });

  test.each<[string, () => void]>([
    ['the payout address has changed', () => changeService(key, { payout_address: SOURCE })],
    ['the service closes', () => changeService(key, { status: 'closing' })],
    ['the policy refuses its bytes today', () => void submitter.checks.set(hashOf(transaction), REFUSED)],
  ])('is handed out although %s', async (_what, change) => {
    change();
    expect(await verify(transaction)).toMatchObject({ isValid: true });
    expect(await settle(transaction)).toMatchObject({ success: true, transaction: txOf(transaction) });
  });

  test('is handed out although its fee payer has been removed', async () => {
    const answer = settle(transaction, { extra: { feePayer: SOURCE } });
    expect(await answer).toMatchObject({ success: true });
  });

  test('is refused to a request for another amount or payee, which is told that it is paid', async () => {
    for (const request of [
      { amount: '60000' },
      { payTo: SOURCE },
      { extra: { feePayer: FEE_PAYER, memo: 'm' } },
    ]) {
      expect(await settle(transaction, request)).toMatchObject({
        success: false,
        error: { money_moved: 'yes' },
      });
      expect(await verify(transaction, request)).toMatchObject({
        isValid: false,
        error: { money_moved: 'yes' },
      });
    }
    const unread = structuredClone(x402Request(transaction));
    unread.paymentRequirements.scheme = 'upto';
    expect(await callAs(key, 'x402Settle', unread)).toMatchObject({
      errorReason: 'unsupported_scheme',
      error: { money_moved: 'yes' },
    });
    expect((await settle(transaction)).success).toBe(true);
  });

  test('and refunded as a whole has a final answer, at once', async () => {
    await refundWhole(transaction);
    const refunded = { code: 'conflict', money_moved: 'yes' };
    expect(await settle(transaction)).toMatchObject({
      success: false,
      errorReason: 'facilitator_payment_refunded',
      error: refunded,
    });
    expect(await verify(transaction)).toMatchObject({
      isValid: false,
      invalidReason: 'facilitator_payment_refunded',
      error: refunded,
    });
  });

  test('and refunded as a whole is no open sale: its service ends and its account can be closed', async () => {
    await publishProgress((await rowOf(transaction)).settlement_id, 'finalized', {
      tx_hash: txOf(transaction),
    });
    await untilEventsHandled();
    const activity = async () => ({
      account: await getAccountActivity(deps)({ account_id: key.account_id }),
      service: (await getSettlementActivity(deps)({ service_id: key.service_id })).open,
    });
    expect(await activity()).toEqual({ account: expect.arrayContaining(['sales']), service: true });
    await refundWhole(transaction);
    const { account, service } = await activity();
    expect(account).not.toContain('sales');
    expect(service).toBe(false);
  });
});

describe('a payment under way', () => {
  test('is pending for the request of a changed service, and its success is handed out later', async () => {
    const transaction = newTransaction();
    const first = settle(transaction);
    await pendingRow(transaction);
    changeService(key, { payout_address: SOURCE, status: 'closing' });
    submitter.checks.set(hashOf(transaction), REFUSED);
    const [again, other] = [settle(transaction), settle(transaction, { amount: '60000' })];
    for (const answer of [await first, await again, await other])
      expect(answer).toMatchObject({ errorReason: 'settlement_pending', error: { money_moved: 'unknown' } });
    const last = settle(transaction);
    await confirm(transaction);
    expect(await last).toMatchObject({ success: true });
  });

  test('that a concurrent call has accepted is never refused with "no money moved"', async () => {
    const transaction = newTransaction();
    const options = { external: 'order-0123456789abcdef' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => settle(transaction, options)));
    expect(new Set(answers.map(({ errorReason }) => errorReason))).toEqual(new Set(['settlement_pending']));
    await confirm(transaction);
    await untilEventsHandled();
    expect(await accept(transaction, 'd', { rail: 'x402', memo: undefined })).toMatchObject({
      status: 'confirmed',
    });
  });
});

describe('acceptForeign', () => {
  test('a payment under another fee is accepted by its own, and one of a closing service is redeemed', async () => {
    const transaction = newTransaction();
    const answer = accept(transaction, 'delivery-1');
    const settlement_id = await confirm(transaction);
    expect(await answer).toMatchObject({ fee_amount: '10000' });
    const { fee } = incomingSettings;
    const minMicro = fee.minMicro;
    fee.minMicro = 50_000n;
    try {
      submitter.checks.set(hashOf(transaction), REFUSED);
      changeService(key, { status: 'closing' });
      expect(await accept(transaction, 'delivery-2')).toMatchObject({ settlement_id, replayed: true });
    } finally {
      fee.minMicro = minMicro;
    }
    expect(await moneyMoved(accept(transaction, 'd', { quote_amount: '60000' }))).toBe('yes');
    expect(await moneyMoved(accept(transaction, 'd', { memo: 'offer-2' }))).toBe('yes');
    expect(await moneyMoved(accept(transaction, 'd', { rail: 'x402' }))).toBe('yes');
  });

  test('a closing service gets no new payment', async () => {
    changeService(key, { status: 'closing' });
    expect(await moneyMoved(accept(newTransaction(), 'd'))).toBe('no');
    expect(await settle(newTransaction())).toMatchObject({
      errorReason: 'facilitator_service_closing',
      error: { code: 'conflict', money_moved: 'no' },
    });
    expect(await verify(newTransaction())).toMatchObject({ invalidReason: 'facilitator_service_closing' });
    expect(await callAs(key, 'x402Supported', {})).toMatchObject({ kinds: expect.any(Array) });
  });

  test('a payment that is reversed before its redeem is a failure, not an error of the service', async () => {
    const transaction = newTransaction();
    const { redeem } = deps.group;
    const waiting = accept(transaction, 'delivery-1');
    const { settlement_id } = await pendingRow(transaction);
    // Between the read of the paid row and its redeem.
    deps.group.redeem = async (request) => {
      deps.group.redeem = redeem;
      await publishProgress(settlement_id, 'failed', {
        tx_hash: txOf(transaction),
        failure: { code: 'payment_failed', message: 'reversed' },
      });
      await untilChainStatus(settlement_id, 'failed');
      return redeem(request);
    };
    await confirm(transaction);
    await expect(waiting).rejects.toMatchObject({ code: 'payment_failed', extras: { money_moved: 'no' } });
  });
});

test('a payment that is reversed after its success is not reported as moved', async () => {
  const transaction = newTransaction();
  const answer = await settled(transaction);
  await sent(answer);
  const { settlement_id } = answer.extra!.quittance;
  await publishProgress(settlement_id, 'reopened', { tx_hash: txOf(transaction) });
  await untilChainStatus(settlement_id, 'pending');
  const duplicate = { errorReason: 'duplicate_settlement', error: { money_moved: 'unknown' } };
  expect(await settle(transaction)).toMatchObject(duplicate);
  await publishProgress(settlement_id, 'failed', {
    tx_hash: txOf(transaction),
    failure: { code: 'payment_failed', message: 'reversed' },
  });
  await untilChainStatus(settlement_id, 'failed');
  expect(await settle(transaction)).toMatchObject(duplicate);
});

describe('the moment of acceptance decides about a new payment', () => {
  /** Settles with other dependencies than those of the running service. */
  const settleWith = (changed: Partial<typeof deps>, transaction: string) =>
    x402Settle({ ...deps, applyProgress: onSettleProgressed(deps), ...changed })(
      x402Request(transaction),
      key,
    );

  test('a service that begins to close, and an account that is frozen, get none', async () => {
    const transaction = newTransaction();
    const checkIncoming: typeof deps.checkIncoming = async (payment) => {
      changeService(key, { status: 'closing' });
      return deps.checkIncoming(payment);
    };
    expect(await settleWith({ checkIncoming }, transaction)).toMatchObject({
      errorReason: 'facilitator_service_closing',
      error: { money_moved: 'no' },
    });
    changeService(key, { status: 'active' });
    expect(await settleWith({ isFrozen: async () => true }, transaction)).toMatchObject({
      errorReason: 'facilitator_account_frozen',
      error: { money_moved: 'no' },
    });
    expect(await rowOf(transaction)).toBeUndefined();
    expect(await owedOf(key.account_id)).toBeUndefined();
  });

  test('an identifier whose holders fail one after the other is evaluated a bounded number of times', async () => {
    const { insert } = deps.group;
    let inserts = 0;
    deps.group.insert = async () => {
      inserts += 1;
      if (inserts > 20) throw new Error('evaluated without a bound');
      return 'taken';
    };
    try {
      const options = { external: 'order-0123456789abcdef' };
      expect(await settle(newTransaction(), options)).toMatchObject({
        errorReason: 'payment_identifier_conflict',
        error: { money_moved: 'no' },
      });
      expect(inserts).toBeLessThanOrEqual(5);
    } finally {
      deps.group.insert = insert;
    }
  });
});
