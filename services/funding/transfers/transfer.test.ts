import { expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { requireWaiting } from './transfer.ts';

const said = (status: string, elapsed: boolean) => {
  try {
    requireWaiting('withdrawal', { status, elapsed, failure_code: null, failure_message: null });
    return 'waits';
  } catch (error) {
    const { money_moved, safe_action } = (error as ServiceError).extras;
    return `${money_moved}, ${safe_action}`;
  }
};

test.each([
  ['pending_approval', false, 'waits'],
  ['pending_signature', false, 'waits'],
  // It may have been submitted in its last second, and the fact of it be late: chain-submitter has not been asked.
  ['pending_approval', true, 'unknown, retry_same_attempt'],
  ['pending_signature', true, 'unknown, retry_same_attempt'],
  ['expired', true, 'no, stop'],
  ['cancelled', false, 'no, stop'],
  ['submitted', true, 'unknown, stop'],
  ['confirmed', true, 'yes, stop'],
  ['finalized', true, 'yes, stop'],
])('a transfer that is %s (elapsed: %s): %s', (status, elapsed, expected) => {
  expect(said(status, elapsed)).toBe(expected);
});
