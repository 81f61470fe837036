import { expect, test } from '@jest/globals';
import { HOLDS_NOTHING, refundSteps } from './refund.ts';
import type { Event } from './transfer.ts';
import { withdrawalSteps } from './withdrawal.ts';

const STATES = ['waiting', 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired'] as const;

/** What each state becomes by an event; `-`: nothing happens. In the order of STATES. */
const TABLE: [Event, ...string[]][] = [
  ['signed', 'submitted', 'submitted', '-', '-', '-', '-', '-'],
  ['confirmed', 'confirmed', 'confirmed', '-', '-', '-', '-', '-'],
  ['finalized', 'finalized', 'finalized', 'finalized', '-', '-', '-', '-'],
  ['failed', 'failed', 'failed', 'failed', '-', '-', '-', '-'],
  ['reopened', '-', '-', 'submitted', '-', '-', '-', '-'],
  ['cancel', 'cancelled', '-', '-', '-', '-', '-', '-'],
  ['elapse', 'expired', '-', '-', '-', '-', '-', '-'],
];

test.each(TABLE)('%s', (event, ...expected) => {
  const of = (steps: Record<Event, { to: string; from: readonly string[] }>, waiting: string) =>
    STATES.map((state) =>
      steps[event].from.includes(state === 'waiting' ? waiting : state) ? steps[event].to : '-',
    );
  expect(of(withdrawalSteps, 'pending_approval')).toEqual(expected);
  expect(of(refundSteps, 'pending_signature')).toEqual(expected);
});

test('nothing waits for its owner again, and what holds nothing of a settlement never moves again', () => {
  for (const { to } of Object.values(refundSteps)) expect(to).not.toMatch(/^pending/);
  const left = new Set(Object.values(refundSteps).flatMap(({ from }) => from));
  expect(HOLDS_NOTHING.filter((status) => left.has(status))).toEqual([]);
});
