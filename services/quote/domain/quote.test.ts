import { expect, test } from '@jest/globals';
import { quoteStatus, STEP } from './quote.ts';

test.each([
  ['new', null, 1000, 999, 'pending'],
  ['at its expiry', null, 1000, 1000, 'expired'],
  ['being paid', STEP.accepted, 1000, 999, 'settling'],
  ['being paid, past its expiry', STEP.accepted, 1000, 2000, 'settling'],
  ['failed, may be tried again', STEP.failed, 1000, 999, 'pending'],
  ['failed, too late', STEP.failed, 1000, 1000, 'expired'],
  ['paid', STEP.issued, 1000, 2000, 'settled'],
])('status of a quote: %s', (_name, step, expiresAt, now, expected) => {
  expect(quoteStatus(step, expiresAt, now)).toBe(expected);
});
