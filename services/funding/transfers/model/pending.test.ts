import { expect, test } from '@jest/globals';
import type { ServiceError } from '../../../../shared/contract/errors.ts';
import { requirePending } from './pending.ts';

const outcome = (status: string, elapsed: boolean) => {
  try {
    requirePending('withdrawal', { status, elapsed, failure_code: null, failure_message: null });
    return 'pending';
  } catch (error) {
    const { money_moved, safe_action } = (error as ServiceError).extras;
    return `${money_moved}, ${safe_action}`;
  }
};

test.each([
  ['pending_approval', false, 'pending'],
  ['pending_signature', false, 'pending'],
  // The transfer may have been submitted in its last second, and the event may be late.
  ['pending_approval', true, 'unknown, retry_same_attempt'],
  ['pending_signature', true, 'unknown, retry_same_attempt'],
  ['expired', true, 'no, stop'],
  ['cancelled', false, 'no, stop'],
  ['submitted', true, 'unknown, stop'],
  ['confirmed', true, 'yes, stop'],
  ['finalized', true, 'yes, stop'],
])(
  'a transfer that is %s (elapsed: %s) is refused with money moved and safe action: %s',
  (status, elapsed, expected) => {
    expect(outcome(status, elapsed)).toBe(expected);
  },
);
