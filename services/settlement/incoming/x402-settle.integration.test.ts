import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import { chainSubmitter } from '../../../shared/contract/index.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  callsOf,
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
  base,
  callAs,
  database,
  deps,
  issuedEvents,
  outcome,
  publishProgress,
  startFixture,
  stopFixture,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  hashOf,
  NETWORK,
  newTransaction,
  PAYER,
  submitter,
  txOf,
  withOtherSlot,
} from '../../../test/support/fixtures/settlement/settlement-incoming.ts';
import { onSettleProgressed } from '../settlements/on-chain-submitter-settle-progressed.ts';
import { resumeIncoming } from './resume-incoming.ts';

/** x402 settle over a real database and bus, with chain-submitter as a stand-in. */
beforeAll(startFixture);
afterAll(stopFixture);

let key: Key;
beforeEach(() => {
  key = newKey();
});
const { settle, settled, verify } = callsOf(() => key);

describe('settle', () => {
  test('a payment is settled, with its rail, payer and resource, and its fee accrues', async () => {
    const transaction = newTransaction();
    const answer = await settled(transaction);
    expect(answer).toEqual({
      success: true,
      transaction: txOf(transaction),
      network: NETWORK,
      payer: PAYER,
      amount: '50000',
      extra: { quittance: { settlement_id: expect.any(String), hand_out_id: expect.any(String) } },
    });
    const { settlement_id } = answer.extra!.quittance;
    expect(await callAs(key, 'get', { settlement_id })).toMatchObject({
      rail: 'x402',
      status: 'issued',
      quote_id: null,
      service_name: 'Weather',
      quote_amount: '50000',
      fee_amount: '0',
      net_amount: '50000',
      accrued_fee: '2001',
      payer_address: PAYER,
      resource: 'https://api.example.com/report',
      redeem_expires_at: null,
    });
    expect(await owedOf(key.account_id)).toBe('2001');
    await waitFor(
      () => issuedEvents.find((event) => event.settlement_id === settlement_id),
      (event) => event !== undefined,
    );
    expect(issuedEvents.find((event) => event.settlement_id === settlement_id)).toMatchObject({
      rail: 'x402',
      account_id: null,
      quote_id: null,
      payer_address: PAYER,
    });
    expect((await sent(answer)).redeemed).toBe(true);
    expect(await callAs(key, 'get', { settlement_id })).toMatchObject({ status: 'redeemed' });
    expect(await callAs(key, 'list', { rail: 'x402' })).toMatchObject({ data: [{ settlement_id }] });
    expect(await callAs(key, 'list', { rail: 'mpp' })).toMatchObject({ data: [] });
  });

  test('the same payload 20 times at once is one payment with one success', async () => {
    const transaction = newTransaction();
    const before = submitter.submitted;
    const calls = Array.from({ length: 20 }, (_, index) =>
      settle(index % 2 === 0 ? transaction : withOtherSlot(transaction)).then(async (answer) => {
        if (answer.success) await sent(answer);
        return answer;
      }),
    );
    await confirm(transaction);
    const answers = await Promise.all(calls);
    expect(answers.filter(({ success }) => success)).toHaveLength(1);
    for (const answer of answers.filter(({ success }) => !success))
      expect(answer).toMatchObject({
        errorReason: 'duplicate_settlement',
        transaction: txOf(transaction),
        error: { money_moved: 'yes' },
      });
    expect(submitter.submitted).toBe(before + 1);
    expect(await owedOf(key.account_id)).toBe('2001');
  });

  test('a success whose answer was lost is handed out again after 5 s, and not before', async () => {
    const transaction = newTransaction();
    await settled(transaction);
    await database.withClock('4 seconds', async () =>
      expect((await rowOf(transaction)).status).toBe('issued'),
    );
    const again = await database.withClock('6 seconds', () => settle(transaction));
    expect(again.success).toBe(true);
    expect((await sent(again)).redeemed).toBe(true);
    const duplicate = { success: false, errorReason: 'duplicate_settlement' };
    expect(await settle(transaction)).toMatchObject(duplicate);
    for (const later of ['121 seconds', '400 days'])
      expect(await database.withClock(later, () => settle(transaction))).toMatchObject(duplicate);
  });

  test('a confirmation that arrives late, but with the next call, keeps the success from it', async () => {
    const transaction = newTransaction();
    const answer = await settled(transaction);
    await database.withClock('6 seconds', async () => {
      // The service was unavailable for longer than 5 s, and the gateway repeats its confirmation.
      const waits = jest.spyOn(deps.waiting, 'until');
      const replay = settle(transaction);
      await waitFor(
        () => waits.mock.calls.length,
        (calls) => calls > 0,
      );
      waits.mockRestore();
      expect((await sent(answer)).redeemed).toBe(true);
      expect(await replay).toMatchObject({ success: false, errorReason: 'duplicate_settlement' });
    });
  });

  test('a success that was sent is recorded while a fork removes the payment', async () => {
    const transaction = newTransaction();
    const answer = await settled(transaction);
    const { settlement_id } = answer.extra!.quittance;
    const tx_hash = txOf(transaction);
    await publishProgress(settlement_id, 'reopened', { tx_hash });
    await waitFor(
      () => rowOf(transaction),
      ({ chain_status }) => chain_status === 'pending',
    );
    expect((await sent(answer)).redeemed).toBe(true);
    await publishProgress(settlement_id, 'confirmed', { tx_hash });
    const duplicate = { success: false, errorReason: 'duplicate_settlement' };
    expect(await database.withClock('6 seconds', () => settle(transaction))).toMatchObject(duplicate);
  });

  test('a payment that is not confirmed in time is pending, and the next call gets its success', async () => {
    const transaction = newTransaction();
    const first = await settle(transaction);
    expect(first).toMatchObject({
      success: false,
      errorReason: 'settlement_pending',
      transaction: txOf(transaction),
      error: { money_moved: 'unknown' },
    });
    const second = settle(transaction);
    await confirm(transaction);
    expect(await second).toMatchObject({ success: true });
  });

  test('a refused transaction writes nothing', async () => {
    const transaction = newTransaction();
    submitter.checks.set(hashOf(transaction), {
      outcome: 'refused',
      reason: 'amount_mismatch',
      message: 'a transfer has another amount',
    });
    expect(await settle(transaction)).toMatchObject({
      success: false,
      transaction: '',
      errorReason: 'invalid_exact_svm_payload_amount_mismatch',
      error: { code: 'validation_error', money_moved: 'no' },
    });
    expect(await rowOf(transaction)).toBeUndefined();
    expect(await owedOf(key.account_id)).toBeUndefined();
  });

  test('a payment that chain-submitter refuses to sign fails for good, and its fee is returned', async () => {
    const transaction = newTransaction();
    const refusal = { outcome: 'refused', reason: 'insufficient_funds', message: 'too small' } as const;
    submitter.submits.set(hashOf(transaction), refusal);
    const expected = { success: false, errorReason: 'insufficient_funds', error: { money_moved: 'no' } };
    expect(await settle(transaction)).toMatchObject(expected);
    submitter.submits.delete(hashOf(transaction));
    expect(await settle(transaction)).toMatchObject(expected);
    expect(await verify(transaction)).toMatchObject({ isValid: false, invalidReason: 'insufficient_funds' });
    expect(await owedOf(key.account_id)).toBe('0');
    expect(submitter.intents.get(hashOf(transaction))).toMatchObject({ txHash: null });
  });

  test('a failure on chain is answered with its reason, and a payment-identifier can be used again', async () => {
    const [first, second] = [newTransaction(), newTransaction()];
    const options = { external: 'order-0123456789abcdef' };
    const answer = settle(first, options);
    const { settlement_id } = await pendingRow(first);
    expect(await settle(second, options)).toMatchObject({ errorReason: 'payment_identifier_conflict' });
    expect(await verify(second, options)).toMatchObject({ invalidReason: 'payment_identifier_conflict' });
    const failure = { code: 'payment_failed', message: 'expired' } as const;
    await publishProgress(settlement_id, 'failed', { tx_hash: txOf(first), failure });
    expect(await answer).toMatchObject({ errorReason: 'invalid_exact_svm_transaction_failed' });
    const other = settle(second, options);
    await confirm(second);
    expect(await other).toMatchObject({ success: true });
  });

  test('while chain-submitter does not answer, the outcome is unknown; later the payment ends', async () => {
    const transaction = newTransaction();
    submitter.answers = false;
    expect(await outcome(settle(transaction))).toBe('service_unavailable');
    submitter.answers = true;
    const answer = settle(transaction);
    await confirm(transaction);
    expect(await answer).toMatchObject({ success: true });
  });

  test('a payment whose call ended before anything was signed is never submitted later', async () => {
    const transaction = newTransaction();
    const refusal = { outcome: 'refused', reason: 'signing_paused', message: 'paused' } as const;
    submitter.checks.set(hashOf(transaction), refusal);
    await settle(transaction);
    submitter.checks.delete(hashOf(transaction));
    const settle1 = settle(transaction);
    await pendingRow(transaction);
    // As if the process had ended before it submitted.
    submitter.intents.delete(hashOf(transaction));
    const resume = resumeIncoming({
      ...deps,
      applyProgress: onSettleProgressed(deps),
      closeIncoming: (payment) => call(base.bus, chainSubmitter, 'closeIncoming', payment),
    });
    await database.withClock('71 seconds', resume);
    expect(await settle1).toMatchObject({ success: false, error: { money_moved: 'no' } });
    expect(await settle(transaction)).toMatchObject({ errorReason: 'invalid_exact_svm_transaction_failed' });
  });

  test('a frozen vendor gets no new payment, and the answer of one that was accepted', async () => {
    const [accepted, late] = [newTransaction(), newTransaction()];
    const answer = settle(accepted);
    await pendingRow(accepted);
    const frozen = { ...key, frozen: true } as const;
    expect(await settle(late, {}, frozen)).toMatchObject({
      errorReason: 'facilitator_account_frozen',
      error: { code: 'forbidden', money_moved: 'no' },
    });
    expect(await rowOf(late)).toBeUndefined();
    await confirm(accepted);
    await sent(await answer);
    expect(await settle(accepted, {}, frozen)).toMatchObject({ errorReason: 'duplicate_settlement' });
  });

  test('while payments are paused, a new payment is refused and an accepted one is settled', async () => {
    const [accepted, late] = [newTransaction(), newTransaction()];
    const answer = settle(accepted);
    await pendingRow(accepted);
    await admin.query('update intake set paused_at = public.app_now()');
    try {
      expect(await settle(late)).toMatchObject({ errorReason: 'facilitator_paused' });
      expect(await verify(late)).toMatchObject({ isValid: false, invalidReason: 'facilitator_paused' });
      await confirm(accepted);
      expect(await answer).toMatchObject({ success: true });
    } finally {
      await admin.query('update intake set paused_at = null');
    }
  });

  test('another service cannot claim a payment', async () => {
    const transaction = newTransaction();
    await settled(transaction);
    const other = newKey();
    expect(await settle(transaction, {}, other)).toMatchObject({
      success: false,
      transaction: '',
      errorReason: 'duplicate_settlement',
      error: { money_moved: 'unknown' },
    });
  });

  test('fees accrue within the credit of the account, and concurrent payments share it', async () => {
    const answers = Array.from({ length: 60 }, async () => {
      const transaction = newTransaction();
      const answer = settle(transaction);
      let last = await Promise.race([answer, confirm(transaction).then(() => answer)]);
      // On a busy machine the events of 49 payments take longer than one call waits.
      while (last.errorReason === 'settlement_pending') last = await settle(transaction);
      return last.success ? 'paid' : last.errorReason;
    });
    const results = await Promise.all(answers);
    // 0.10 USDC at 2,001 micro-units each.
    expect(results.filter((result) => result === 'paid')).toHaveLength(49);
    expect(results.filter((result) => result === 'facilitator_credit_exhausted')).toHaveLength(11);
    expect(await owedOf(key.account_id)).toBe(`${49 * 2001}`);
    expect(await verify(newTransaction())).toMatchObject({ invalidReason: 'facilitator_credit_exhausted' });
  });
});

describe('reissue', () => {
  const reissue = (settlement_id: string, redeem_id: string, by: Principal = key) =>
    outcome(callAs(by, 'reissueForeign', { settlement_id, redeem_id }));
  /** The id of the success that was handed out last, as the vendor reads it. */
  const redeemIdOf = async (settlement_id: string) =>
    (await callAs<{ redeem_id: string }>(key, 'get', { settlement_id })).redeem_id;

  test('the vendor makes a success available again that it has not delivered', async () => {
    const transaction = newTransaction();
    const first = await settled(transaction);
    const { settlement_id } = first.extra!.quittance;
    await sent(first);
    const redeemId = await redeemIdOf(settlement_id);
    expect(redeemId).toBe(first.extra!.quittance.hand_out_id);
    expect(await reissue(settlement_id, 'another-id')).toBe('conflict');
    expect(await reissue(settlement_id, redeemId)).toBe('ok');
    expect(await reissue(settlement_id, redeemId)).toBe('ok');
    const again = await settle(transaction);
    expect(again.success).toBe(true);
    await sent(again);
    expect((await settle(transaction)).errorReason).toBe('duplicate_settlement');
  });

  test('a repeat of a call whose answer was lost hands out no third success', async () => {
    const transaction = newTransaction();
    const first = await settled(transaction);
    const { settlement_id } = first.extra!.quittance;
    await sent(first);
    const redeemId = await redeemIdOf(settlement_id);
    expect(await reissue(settlement_id, redeemId)).toBe('ok');
    await sent(await settle(transaction));
    expect(await reissue(settlement_id, redeemId)).toBe('conflict');
    expect((await settle(transaction)).errorReason).toBe('duplicate_settlement');
    // The second one is reissued by its own id.
    expect(await reissue(settlement_id, await redeemIdOf(settlement_id))).toBe('ok');
    expect((await settle(transaction)).success).toBe(true);
  });

  test('nobody else can, and nothing that is refunded or pending', async () => {
    const transaction = newTransaction();
    const answer = settle(transaction);
    const { settlement_id } = await pendingRow(transaction);
    expect(await reissue(settlement_id, 'r-1')).toBe('conflict');
    await confirm(transaction);
    await sent(await answer);
    const redeemId = await redeemIdOf(settlement_id);
    const other = newKey();
    expect(await reissue(settlement_id, redeemId, other)).toBe('not_found');
    await admin.query('update settlements set refund_reserved = 1 where settlement_id = $1', [settlement_id]);
    expect(await reissue(settlement_id, redeemId)).toBe('conflict');
  });
});
