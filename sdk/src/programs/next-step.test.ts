import { expect, test } from '@jest/globals';
import { failureLines, failureOf } from '../../../cli/src/failure.ts';
import { refusalOf } from '../../../mcp/src/answers.ts';
import { ApiError, type SafeAction } from '../errors.ts';
import { ERROR_CLASSES } from '../generated/errors.ts';
import { nextStepOf, STEP_AFTER } from './next-step.ts';

/** The advice of every surface after every error code: it can work. */

const info = { status: 400, requestId: 'r', retryAfterMs: null };
const codes = Object.keys(ERROR_CLASSES) as (keyof typeof ERROR_CLASSES)[];
const refusal = (code: keyof typeof ERROR_CLASSES, more: object = {}) =>
  new ERROR_CLASSES[code]({ code, message: 'it is refused', ...more }, info);

const cli = (error: ApiError): string => failureOf(error).next ?? '';
const mcp = (error: ApiError): string => refusalOf(error).what_to_do;
const [REPEATS, SUPPORT] = [/^(Repeat|Wait|Call the tool again)/, /support/i];

test('every code has a step, and no other code has one', () => {
  expect(new Set(Object.keys(STEP_AFTER))).toEqual(new Set(codes));
});

test.each(codes)('%s: an unchanged repeat is advised only where it can succeed', (code) => {
  for (const safe_action of [undefined, 'stop', 'retry_same_attempt'] as (SafeAction | undefined)[]) {
    const error = refusal(code, { ...(safe_action !== undefined && { safe_action, money_moved: 'no' }) });
    const { retryable } = ERROR_CLASSES[code];
    for (const say of [cli, mcp]) {
      const advice = say(error);
      expect(advice).not.toBe('');
      // A new price is no repeat of the payment.
      if (nextStepOf(error) !== 'new_quote')
        expect([advice, REPEATS.test(advice)]).toEqual([advice, retryable]);
      expect([advice, SUPPORT.test(advice)]).toEqual([advice, code === 'internal_error']);
    }
  }
});

test('an action of the API that says more than its code is the step', () => {
  const paid = refusal('conflict', { safe_action: 'read_settlement', money_moved: 'yes' });
  expect(nextStepOf(paid)).toBe('read_settlement');
  expect(nextStepOf(refusal('conflict', { safe_action: 'stop', money_moved: 'no' }))).toBe('read_state');
});

test('a code of a newer API is repeated only if its status says so', () => {
  const of = (status: number) =>
    nextStepOf(new ApiError({ code: 'newer', message: 'x' }, { ...info, status }));
  expect([of(503), of(409)]).toEqual(['repeat_later', 'read_state']);
});

test('after a refusal whose outcome is open, the same ids are kept', () => {
  const open = refusal('validation_error', { safe_action: 'retry_same_attempt', money_moved: 'unknown' });
  expect(cli(open)).toMatch(/Then repeat the same command, which continues the same payment\.$/);
  expect(mcp(open)).toMatch(/including payment_key\. It never pays twice\.$/);
});

test('a field is named once', () => {
  const details = [{ path: 'amount', message: 'must be more than 0' }];
  const error = refusal('validation_error', { message: 'amount: must be more than 0', details });
  Object.assign(error, { message: 'amount: must be more than 0' });
  const text = failureLines(failureOf(error)).join('\n');
  expect(text.split('must be more than 0')).toHaveLength(2);
});
