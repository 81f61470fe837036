import { expect, test } from '@jest/globals';
import { eachPair } from '../../../../test/support/each-pair.ts';
import { HOLDS_NOTHING, refunds } from './refund.ts';
import type { TransferEvent } from './transfer.ts';
import { withdrawals } from './withdrawal.ts';

const STATES = ['waiting', 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired'] as const;

/** What each state becomes by an event; `-`: nothing happens. In the order of STATES. */
const TABLE: [TransferEvent, ...string[]][] = [
  ['signed', 'submitted', 'submitted', '-', '-', '-', '-', '-'],
  ['confirmed', 'confirmed', 'confirmed', '-', '-', '-', '-', '-'],
  ['finalized', 'finalized', 'finalized', 'finalized', '-', '-', '-', '-'],
  ['failed', 'failed', 'failed', 'failed', '-', '-', '-', '-'],
  ['reopened', '-', '-', 'submitted', '-', '-', '-', '-'],
  ['cancel', 'cancelled', '-', '-', '-', '-', '-', '-'],
  ['elapse', 'expired', '-', '-', '-', '-', '-', '-'],
];

test.each(TABLE)('%s', (event, ...expected) => {
  const of = (waiting: 'pending_approval' | 'pending_signature') =>
    STATES.map((state) => {
      if (state !== 'waiting') {
        expect(withdrawals.next(state, event)).toBe(refunds.next(state, event));
        return refunds.next(state, event) ?? '-';
      }
      const to =
        waiting === 'pending_approval' ? withdrawals.next(waiting, event) : refunds.next(waiting, event);
      return to ?? '-';
    });
  expect(of('pending_approval')).toEqual(expected);
  expect(of('pending_signature')).toEqual(expected);
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
)('a refund that is %s, then %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});

test('nothing waits for its owner again, and what holds nothing of a settlement never changes again', () => {
  for (const event of refunds.events) if (event !== 'open') expect(refunds.to(event)).not.toMatch(/^pending/);
  expect(HOLDS_NOTHING.filter((state) => !refunds.isTerminal(state))).toEqual([]);
});

test('open are those that wait for their owner or for the chain', () => {
  expect(withdrawals.open).toEqual(['pending_approval', 'submitted', 'confirmed']);
  expect(refunds.open).toEqual(['new', 'pending_signature', 'submitted', 'confirmed']);
});
