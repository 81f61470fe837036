import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import {
  admin,
  callAs,
  database,
  deps,
  issuedEvents,
  outcome,
  publishProgress,
  startFixture,
  stopFixture,
} from '../../../test/support/settlement.ts';
import {
  FEE_PAYER,
  hashOf,
  NETWORK,
  newTransaction,
  newVendor,
  PAYER,
  SOURCE,
  submitter,
  txOf,
  withOtherSlot,
  x402Request,
} from '../../../test/support/settlement-foreign.ts';
import { waitFor } from '../../../test/support/wait.ts';
import { onSettleProgressed } from '../settlements/on-chain-submitter-settle-progressed.ts';
import { recordHandOut } from './record-hand-out.ts';
import { resumeForeign } from './resume-foreign.ts';

beforeAll(startFixture, 180_000);
afterAll(stopFixture, 180_000);

type Key = Extract<Principal, { kind: 'service_key' }>;
type SettleAnswer = {
  success: boolean;
  transaction: string;
  errorReason?: string;
  payer?: string;
  amount?: string;
  network: string;
  extra?: { quittance: { settlement_id: string; hand_out_id?: string } };
  error?: { code: string; money_moved: string };
};
type VerifyAnswer = { isValid: boolean; invalidReason?: string; payer?: string; error?: object };
let key: Key;
beforeEach(() => {
  key = newVendor({ account_id: newId('acct'), service_id: newServiceId() });
  submitter.answers = true;
});

const verify = (transaction: string, options: Parameters<typeof x402Request>[1] = {}) =>
  callAs<VerifyAnswer>(key, 'x402Verify', x402Request(transaction, options));
const settle = (transaction: string, options: Parameters<typeof x402Request>[1] = {}, by: Key = key) =>
  callAs<SettleAnswer>(by, 'x402Settle', x402Request(transaction, options));
const rowOf = async (transaction: string) =>
  (await admin.query('select * from settlements where message_hash = $1', [hashOf(transaction)])).rows[0];
const pendingRow = (transaction: string) =>
  waitFor(
    () => rowOf(transaction),
    (row) => row !== undefined && submitter.intents.has(hashOf(transaction)),
  );
const confirm = async (transaction: string, status: 'confirmed' | 'finalized' = 'confirmed') => {
  const { settlement_id } = await pendingRow(transaction);
  await publishProgress(settlement_id, status, { tx_hash: txOf(transaction) });
  return settlement_id as string;
};
/** A payment whose success was handed out and not confirmed as sent. */
const settled = async (transaction = newTransaction(), options = {}): Promise<SettleAnswer> => {
  const answer = settle(transaction, options);
  await confirm(transaction);
  return answer;
};
const sent = ({ extra }: SettleAnswer) =>
  recordHandOut(deps)({
    settlement_id: extra!.quittance.settlement_id,
    hand_out_id: extra!.quittance.hand_out_id!,
  });
const owedOf = async (account: string) =>
  (await admin.query('select accrued::text from fee_accounts where account_id = $1', [account])).rows[0]
    ?.accrued;

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
    expect(await settle(transaction)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' });
  }, 30_000);

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
  }, 30_000);

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
  }, 30_000);

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
    const resume = resumeForeign({ ...deps, applyProgress: onSettleProgressed(deps) });
    await database.withClock('71 seconds', resume);
    expect(await settle1).toMatchObject({ success: false, error: { money_moved: 'no' } });
    expect(await settle(transaction)).toMatchObject({ errorReason: 'invalid_exact_svm_transaction_failed' });
  }, 30_000);

  test('another service cannot claim a payment', async () => {
    const transaction = newTransaction();
    await settled(transaction);
    const other = newVendor({ account_id: newId('acct'), service_id: newServiceId() });
    expect(await settle(transaction, {}, other)).toMatchObject({
      success: false,
      transaction: '',
      errorReason: 'duplicate_settlement',
    });
  });

  test('fees accrue within the credit of the account, and concurrent payments share it', async () => {
    const answers = Array.from({ length: 60 }, async () => {
      const transaction = newTransaction();
      const answer = settle(transaction);
      const first = await Promise.race([answer, confirm(transaction).then(() => answer)]);
      return first.success ? 'paid' : first.errorReason;
    });
    const results = await Promise.all(answers);
    // 0.10 USDC at 2,001 micro-units each.
    expect(results.filter((result) => result === 'paid')).toHaveLength(49);
    expect(results.filter((result) => result === 'facilitator_credit_exhausted')).toHaveLength(11);
    expect(await owedOf(key.account_id)).toBe(`${49 * 2001}`);
    expect(await verify(newTransaction())).toMatchObject({ invalidReason: 'facilitator_credit_exhausted' });
  }, 60_000);
});

test.each<[string, (request: ReturnType<typeof x402Request>) => void, string]>([
  [
    'another version',
    (r) => void Object.assign(r.paymentPayload, { x402Version: 3 }),
    'invalid_x402_version',
  ],
  [
    'another scheme',
    (r) => {
      r.paymentRequirements.scheme = 'upto';
    },
    'unsupported_scheme',
  ],
  [
    'another network',
    (r) => {
      r.paymentRequirements.network = 'solana:mainnet';
    },
    'invalid_network',
  ],
  [
    'a payment for another network',
    (r) => {
      r.paymentPayload.accepted = { ...r.paymentPayload.accepted, network: 'eip155:1' };
    },
    'invalid_exact_svm_network_mismatch',
  ],
  [
    'another asset',
    (r) => {
      r.paymentRequirements.asset = SOURCE;
    },
    'invalid_exact_svm_payload_mint_mismatch',
  ],
  [
    'another payee',
    (r) => {
      r.paymentRequirements.payTo = SOURCE;
    },
    'invalid_exact_svm_payload_recipient_mismatch',
  ],
  [
    'no fee payer',
    (r) => {
      r.paymentRequirements.extra = {} as never;
    },
    'invalid_exact_svm_payload_missing_fee_payer',
  ],
  [
    'an unknown fee payer',
    (r) => {
      r.paymentRequirements.extra = { feePayer: SOURCE };
    },
    'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
  ],
  [
    'an amount with a sign',
    (r) => {
      r.paymentRequirements.amount = '-5';
    },
    'invalid_payment_requirements',
  ],
  [
    'a memo that is no text',
    (r) => {
      r.paymentRequirements.extra = { feePayer: FEE_PAYER, memo: 5 } as never;
    },
    'invalid_payment_requirements',
  ],
  [
    'a transaction that is no base64',
    (r) => {
      r.paymentPayload.payload.transaction = '!';
    },
    'invalid_exact_svm_payload_transaction_could_not_be_decoded',
  ],
  [
    'a transaction without a message',
    (r) => {
      r.paymentPayload.payload.transaction = 'AQ==';
    },
    'invalid_exact_svm_payload_transaction_could_not_be_decoded',
  ],
])('a request with %s is refused by verify and settle', async (_name, change, reason) => {
  const request = structuredClone(x402Request(newTransaction()));
  change(request);
  expect(await callAs(key, 'x402Verify', request)).toMatchObject({
    isValid: false,
    invalidReason: reason,
    error: { money_moved: 'no' },
  });
  expect(await callAs(key, 'x402Settle', request)).toMatchObject({ success: false, errorReason: reason });
});

describe('verify', () => {
  test('a payment is valid until its success was handed out', async () => {
    const transaction = newTransaction();
    expect(await verify(transaction)).toEqual({ isValid: true, payer: PAYER });
    expect(await rowOf(transaction)).toBeUndefined();
    const answer = settle(transaction);
    await pendingRow(transaction);
    expect(await verify(transaction)).toEqual({ isValid: true, payer: PAYER });
    await confirm(transaction);
    await sent(await answer);
    expect(await verify(transaction)).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
    });
  });

  test('version 1 names the network and the amount in its own way', async () => {
    const request = x402Request(newTransaction(), { network: 'solana-devnet' });
    const { amount, ...required } = request.paymentRequirements;
    expect(
      await callAs(key, 'x402Verify', {
        x402Version: 1,
        paymentPayload: {
          x402Version: 1,
          scheme: 'exact',
          network: 'solana-devnet',
          payload: request.paymentPayload.payload,
        },
        paymentRequirements: { ...required, maxAmountRequired: amount },
      }),
    ).toEqual({ isValid: true, payer: PAYER });
  });

  test('the supported kinds name the fee payer and every signer', async () => {
    expect(await callAs(key, 'x402Supported', {})).toEqual({
      kinds: [
        { x402Version: 2, scheme: 'exact', network: NETWORK, extra: { feePayer: FEE_PAYER } },
        { x402Version: 1, scheme: 'exact', network: 'solana-devnet', extra: { feePayer: FEE_PAYER } },
      ],
      extensions: ['payment-identifier'],
      signers: { 'solana:*': [FEE_PAYER] },
    });
  });
});

describe('reissue', () => {
  const reissue = (settlement_id: string, by: Principal = key) =>
    outcome(callAs(by, 'reissueForeign', { settlement_id }));

  test('the vendor makes a success available again that it has not delivered', async () => {
    const transaction = newTransaction();
    const first = await settled(transaction);
    const { settlement_id } = first.extra!.quittance;
    await sent(first);
    expect(await reissue(settlement_id)).toBe('ok');
    expect(await reissue(settlement_id)).toBe('ok');
    const again = await settle(transaction);
    expect(again.success).toBe(true);
    await sent(again);
    expect((await settle(transaction)).errorReason).toBe('duplicate_settlement');
  });

  test('nobody else can, and nothing that is refunded or pending', async () => {
    const transaction = newTransaction();
    const answer = settle(transaction);
    const { settlement_id } = await pendingRow(transaction);
    expect(await reissue(settlement_id)).toBe('conflict');
    await confirm(transaction);
    await sent(await answer);
    const other = newVendor({ account_id: newId('acct'), service_id: newServiceId() });
    expect(await reissue(settlement_id, other)).toBe('not_found');
    await admin.query('update settlements set refund_reserved = 1 where settlement_id = $1', [settlement_id]);
    expect(await reissue(settlement_id)).toBe('conflict');
  });
});

describe('acceptForeign', () => {
  type Accepted = { status: string; replayed?: boolean; redeem_id?: string; fee_amount?: string };
  const accept = (transaction: string, redeem_id: string, rest: object = {}) =>
    callAs<Accepted>(key, 'acceptForeign', {
      ...{ rail: 'mpp', quote_amount: '50000', memo: 'offer-1', transaction, redeem_id },
      ...rest,
    });

  test('an MPP payment is settled and redeemed in one step, and its fee is a split', async () => {
    const transaction = newTransaction();
    const answer = accept(transaction, 'delivery-1');
    const settlement_id = await confirm(transaction);
    expect(await answer).toMatchObject({
      settlement_id,
      status: 'confirmed',
      tx_hash: txOf(transaction),
      quote_amount: '50000',
      fee_amount: '10000',
      payer_address: PAYER,
      source_account: SOURCE,
      redeem_id: 'delivery-1',
      replayed: false,
    });
    expect(await accept(transaction, 'delivery-1')).toMatchObject({
      replayed: true,
      redeem_id: 'delivery-1',
    });
    expect(await accept(transaction, 'delivery-2')).toMatchObject({
      replayed: true,
      redeem_id: 'delivery-1',
    });
    expect(await callAs(key, 'get', { settlement_id })).toMatchObject({
      rail: 'mpp',
      status: 'redeemed',
      fee_amount: '10000',
      net_amount: '40000',
    });
    expect(await owedOf(key.account_id)).toBeUndefined();
  });

  test('30 calls at once deliver once', async () => {
    const transaction = newTransaction();
    const calls = Array.from({ length: 30 }, (_, index) => accept(transaction, `delivery-${index}`));
    await confirm(transaction);
    const answers = await Promise.all(calls);
    expect(answers.filter(({ replayed }) => replayed === false)).toHaveLength(1);
    expect(new Set(answers.map(({ redeem_id }) => redeem_id)).size).toBe(1);
  });

  test('a payment of MPP names the memo of its offer, and one of x402 may have none', async () => {
    const memo = undefined;
    expect(await outcome(accept(newTransaction(), 'd', { memo }))).toBe('validation_error');
    const transaction = newTransaction();
    const answer = accept(transaction, 'd', { rail: 'x402', memo });
    await confirm(transaction);
    expect(await answer).toMatchObject({ status: 'confirmed', replayed: false });
  });

  test('an unconfirmed payment is pending, and a refused or failed one is an error', async () => {
    const pending = newTransaction();
    expect(await accept(pending, 'd')).toMatchObject({ status: 'pending', tx_hash: txOf(pending) });
    const refused = newTransaction();
    const about = { outcome: 'refused', reason: 'memo_mismatch', message: 'another memo' } as const;
    submitter.checks.set(hashOf(refused), about);
    expect(await outcome(accept(refused, 'd'))).toBe('validation_error');
    expect(await outcome(accept(newTransaction(), 'd', { quote_amount: '10000' }))).toBe('validation_error');
    const poor = newTransaction();
    submitter.submits.set(hashOf(poor), { ...about, reason: 'insufficient_funds' });
    expect(await outcome(accept(poor, 'd'))).toBe('insufficient_funds');
  }, 30_000);
});

test('the terms of a 402 name network, fee payer, payee and fee', async () => {
  expect(await callAs(key, 'foreignTerms', {})).toMatchObject({
    network: NETWORK,
    mpp_network: 'devnet',
    fee_payer: FEE_PAYER,
    fee: { bps: 50, min: '10000' },
  });
});
