import { expect, test } from '@jest/globals';
import { ApiError, NoAnswerError, PaymentUndecidedError } from '../../../../sdk/src/main.ts';
import { afterFailure, type FeePayment, isCreditLow } from './fee-payment.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const payment: FeePayment = {
  quote: { expires_at: '2026-11-21T12:05:00.000Z' } as FeePayment['quote'],
  attemptId: 'first',
};
const refusal = (code: string, money_moved?: 'no' | 'yes' | 'unknown') =>
  new ApiError({ code, message: '', ...(money_moved !== undefined && { money_moved }) } as never, {
    status: 409,
    requestId: null,
    retryAfterMs: null,
  });

test.each([
  ['no answer arrived', new NoAnswerError('')],
  ['the outcome is not decided', new PaymentUndecidedError('first', 'a.b', null)],
  ['the outcome is unknown', refusal('service_unavailable', 'unknown')],
  ['the refusal does not name the outcome', refusal('rate_limited')],
])('the same attempt is repeated if %s', (_what, error) =>
  expect(afterFailure(payment, error, NOW)).toBe(payment),
);

test('a refusal without a payment needs a new attempt, and an expired quote a new quote', () => {
  const next = afterFailure(payment, refusal('delegation_inactive', 'no'), NOW);
  expect(next?.quote).toBe(payment.quote);
  expect(next?.attemptId).not.toBe('first');
  expect(afterFailure(payment, refusal('delegation_inactive', 'no'), NOW + 300_000)).toBeNull();
  expect(afterFailure(payment, refusal('quote_expired', 'no'), NOW)).toBeNull();
});

test.each([
  ['80000', '100000', false],
  ['80001', '100000', true],
  ['100000', '100000', true],
  ['80001', '5000000', false],
])('%p owed of a credit of %p: low is %p', (owed, credit, isLow) =>
  expect(isCreditLow({ accrued: owed, paid: '0', owed, credit })).toBe(isLow),
);
