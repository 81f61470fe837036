import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  callsOf,
  confirm,
  type Key,
  newKey,
  pendingRow,
  rowOf,
  sent,
} from '../../../test/support/fixtures/settlement/incoming-calls.ts';
import { callAs, startFixture, stopFixture } from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  FEE_PAYER,
  NETWORK,
  newTransaction,
  PAYER,
  SOURCE,
  x402Request,
} from '../../../test/support/fixtures/settlement/settlement-incoming.ts';

/** Requests of x402 that are refused, and verify. */
beforeAll(startFixture);
afterAll(stopFixture);

let key: Key;
beforeEach(() => {
  key = newKey();
});
const { settle, verify } = callsOf(() => key);

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
