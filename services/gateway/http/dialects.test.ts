import { expect, test } from '@jest/globals';
import type { ErrorBody } from '../../../shared/contract/errors.ts';
import { inDialect } from './dialects.ts';

const errorOf = (code: ErrorBody['code'], money_moved: 'no' | 'unknown' = 'no') => ({
  error: { code, message: 'a message', money_moved },
});

test.each<
  ['x402Verify' | 'x402Settle' | 'solanaPay' | undefined, number, ReturnType<typeof errorOf>, object | null]
>([
  [undefined, 400, errorOf('validation_error'), {}],
  ['solanaPay', 409, errorOf('conflict'), { message: 'a message' }],
  ['x402Verify', 400, errorOf('validation_error'), { isValid: false, invalidReason: 'invalid_payload' }],
  [
    'x402Verify',
    503,
    errorOf('service_unavailable', 'unknown'),
    { isValid: false, invalidReason: 'unexpected_verify_error' },
  ],
  [
    'x402Settle',
    413,
    errorOf('payload_too_large', 'unknown'),
    { success: false, transaction: '', errorReason: 'invalid_payload' },
  ],
  [
    'x402Settle',
    429,
    errorOf('rate_limited', 'unknown'),
    { success: false, errorReason: 'unexpected_settle_error' },
  ],
  ['x402Settle', 503, errorOf('service_unavailable', 'no'), null],
  ['x402Settle', 503, errorOf('service_unavailable', 'unknown'), null],
  ['x402Settle', 500, errorOf('internal_error', 'unknown'), null],
])('an error of %s with status %s', (dialect, status, body, expected) => {
  const answer = inDialect(dialect, status, body);
  if (expected === null) expect(answer).toBeNull();
  else expect(answer).toMatchObject({ ...body, ...expected });
});
