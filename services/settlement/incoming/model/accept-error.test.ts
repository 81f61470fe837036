import { expect, test } from '@jest/globals';
import type { ErrorCode, SafeAction } from '../../../../shared/contract/errors.ts';
import { errorOf, toX402 } from '../x402-refusal.ts';
import { acceptErrorOf, payerErrorOf } from './accept-error.ts';
import type { Refusal } from './refusal.ts';

/** `undefined`: the gateway's default for the code. Repeating the same bytes is one of them. */
type Row = [
  reason: Refusal['reason'],
  code: ErrorCode,
  safeAction: SafeAction | undefined,
  x402: string,
  codeOfX402: ErrorCode,
];

test.each<Row>([
  [
    ...(['blockhash_expired', 'payment_failed', 'new_quote'] as const),
    ...(['invalid_exact_svm_transaction_simulation_failed', 'payment_failed'] as const),
  ],
  [
    ...(['simulation_failed', 'payment_failed', 'new_quote'] as const),
    ...(['invalid_exact_svm_transaction_simulation_failed', 'payment_failed'] as const),
  ],
  [
    ...(['closed', 'payment_failed', 'new_quote'] as const),
    ...(['invalid_exact_svm_transaction_failed', 'payment_failed'] as const),
  ],
  ['insufficient_funds', 'insufficient_funds', 'top_up', 'insufficient_funds', 'insufficient_funds'],
  [
    ...(['budget_exhausted', 'service_unavailable', undefined] as const),
    ...(['facilitator_budget_exhausted', 'service_unavailable'] as const),
  ],
  [
    ...(['payee_not_ready', 'service_unavailable', undefined] as const),
    ...(['invalid_exact_svm_payload_recipient_mismatch', 'validation_error'] as const),
  ],
  ['other_service', 'conflict', 'stop', 'duplicate_settlement', 'conflict'],
  [
    ...(['amount_mismatch', 'validation_error', undefined] as const),
    ...(['invalid_exact_svm_payload_amount_mismatch', 'validation_error'] as const),
  ],
])(
  '%s of an unpaid payment: %s with the safe action %s; of x402: %s with %s',
  (reason, code, safe_action, x402, codeOfX402) => {
    const refusal = { reason, message: 'why' };
    expect(acceptErrorOf(refusal, 'no')).toMatchObject({ code, extras: { money_moved: 'no' } });
    expect(acceptErrorOf(refusal, 'no').extras.safe_action).toBe(safe_action);
    // A facilitator names no action: x402 clients sign again after any failure.
    expect(errorOf(toX402(refusal), 'no')).toEqual({ code: codeOfX402, message: 'why', money_moved: 'no' });
    expect(toX402(refusal).reason).toBe(x402);
  },
);

test('nobody signs again while the money of the refused bytes may have moved', () => {
  const refusal = { reason: 'blockhash_expired', message: 'why' } as const;
  for (const moved of ['unknown', 'yes'] as const)
    expect(acceptErrorOf(refusal, moved).extras.safe_action).not.toBe('new_quote');
});

test('the account of a payee that is not there yet is worth a repeat within seconds', () => {
  const refusal = { reason: 'payee_not_ready', message: 'why' } as const;
  for (const error of [acceptErrorOf(refusal, 'no'), payerErrorOf(refusal)])
    expect(error).toMatchObject({ code: 'service_unavailable', extras: { retryAfterSeconds: 3 } });
});

test.each<Refusal['reason']>([
  'payee_not_ready',
  'simulation_failed',
  'insufficient_funds',
  'signing_paused',
  'closed',
])('who scans a code reads a sentence about what to do: %s', (reason) => {
  const { message, code } = payerErrorOf({ reason, message: 'a payee has no token account' });
  expect(message).toMatch(/^[A-Z][^_]+\.$/);
  expect(message).not.toContain('payee');
  expect(code).toBe(acceptErrorOf({ reason, message: '' }, 'no').code);
});
