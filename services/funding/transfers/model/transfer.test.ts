import { expect, test } from '@jest/globals';
import { eachPair } from '../../../../test/support/base/each-pair.ts';
import { RESERVES_NOTHING, refunds } from './refund.ts';
import type { TransferEvent } from './transfer.ts';
import { withdrawals } from './withdrawal.ts';

const STATES = ['pending', 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired'] as const;

/** The state that each state becomes by an event, in the order of STATES; `-`: nothing changes. */
const TABLE: [TransferEvent, ...string[]][] = [
  ['signed', 'submitted', 'submitted', '-', '-', '-', '-', '-'],
  ['confirmed', 'confirmed', 'confirmed', '-', '-', '-', '-', '-'],
  ['finalized', 'finalized', 'finalized', 'finalized', '-', '-', '-', '-'],
  ['failed', 'failed', 'failed', 'failed', '-', '-', '-', '-'],
  ['reopened', '-', '-', 'submitted', '-', '-', '-', '-'],
  ['cancel', 'cancelled', '-', '-', '-', '-', '-', '-'],
  ['elapse', 'expired', '-', '-', '-', '-', '-', '-'],
];

test.each(TABLE)('withdrawals and refunds change alike by the event %s', (event, ...expected) => {
  const nextStates = (pending: 'pending_approval' | 'pending_signature') =>
    STATES.map((state) => {
      if (state !== 'pending') {
        expect(withdrawals.next(state, event)).toBe(refunds.next(state, event));
        return refunds.next(state, event) ?? '-';
      }
      const to =
        pending === 'pending_approval' ? withdrawals.next(pending, event) : refunds.next(pending, event);
      return to ?? '-';
    });
  expect(nextStates('pending_approval')).toEqual(expected);
  expect(nextStates('pending_signature')).toEqual(expected);
});

test.each(
  // biome-ignore format: a table
  eachPair(refunds, ['open', 'void', 'signed', 'confirmed', 'finalized', 'failed', 'reopened', 'cancel', 'elapse'], {
    new:               ['pending_signature', 'void', '-', '-', '-', '-', '-', '-', '-'],
    void:              ['-', '-', '-', '-', '-', '-', '-', '-', '-'],
    pending_signature: ['-', '-', 'submitted', 'confirmed', 'finalized', 'failed', '-', 'cancelled', 'expired'],
    submitted:         ['-', '-', 'submitted', 'confirmed', 'finalized', 'failed', '-', '-', '-'],
    confirmed:         ['-', '-', '-', '-', 'finalized', 'failed', 'submitted', '-', '-'],
    finalized:         ['-', '-', '-', '-', '-', '-', '-', '-', '-'],
    failed:            ['-', '-', '-', '-', '-', '-', '-', '-', '-'],
    cancelled:         ['-', '-', '-', '-', '-', '-', '-', '-', '-'],
    expired:           ['-', '-', '-', '-', '-', '-', '-', '-', '-'],
  }),
)('a refund in the state %s becomes by the event %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});

test('no event but open makes a refund pending, and a refund that reserves nothing never changes again', () => {
  for (const event of refunds.events) if (event !== 'open') expect(refunds.to(event)).not.toMatch(/^pending/);
  expect(RESERVES_NOTHING.filter((state) => !refunds.isTerminal(state))).toEqual([]);
});

test('the open states are those that wait for the owner or for the chain', () => {
  expect(withdrawals.open).toEqual(['pending_approval', 'submitted', 'confirmed']);
  expect(refunds.open).toEqual(['new', 'pending_signature', 'submitted', 'confirmed']);
});
