import { expect, test } from '@jest/globals';
import { INTENT_STATES } from '../../../../shared/lib/telemetry/metrics-catalog.ts';
import { eachPair } from '../../../../test/support/base/each-pair.ts';
import { type Event, intents, type Status } from './state.ts';

const EVENTS = ['sign', 'confirm', 'finalize', 'fork', 'fail'] as const;

test.each(
  // biome-ignore format: a table
  eachPair(intents, EVENTS, {
    accepted:  ['signed', 'confirmed', '-',         '-',        'failed'],
    signed:    ['signed', 'confirmed', '-',         '-',        'failed'],
    confirmed: ['-',      '-',         'finalized', 'reopened', '-'],
    reopened:  ['signed', 'confirmed', '-',         '-',        'failed'],
    finalized: ['-',      '-',         '-',         '-',        '-'],
    failed:    ['-',      '-',         '-',         '-',        '-'],
  }),
)('each pair: transition of an intent in state %s on %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});

test.each<[Status, Event, Status | null]>([
  ['accepted', 'sign', 'signed'],
  ['accepted', 'confirm', 'confirmed'],
  ['accepted', 'fail', 'failed'],
  ['accepted', 'finalize', null],
  ['accepted', 'fork', null],
  ['signed', 'sign', 'signed'],
  ['signed', 'confirm', 'confirmed'],
  ['signed', 'fail', 'failed'],
  ['signed', 'finalize', null],
  ['signed', 'fork', null],
  ['confirmed', 'finalize', 'finalized'],
  ['confirmed', 'fork', 'reopened'],
  ['confirmed', 'sign', null],
  ['confirmed', 'confirm', null],
  ['confirmed', 'fail', null],
  ['reopened', 'confirm', 'confirmed'],
  ['reopened', 'sign', 'signed'],
  ['reopened', 'fail', 'failed'],
  ['reopened', 'finalize', null],
  ['finalized', 'fork', null],
  ['finalized', 'fail', null],
  ['finalized', 'sign', null],
  ['failed', 'sign', null],
  ['failed', 'confirm', null],
])('transition of an intent in state %s on %s: %s', (status, event, expected) => {
  expect(intents.next(status, event)).toBe(expected);
});

test('each event leads to one state, whatever the state before', () => {
  for (const event of EVENTS) {
    const to = intents.to(event);
    expect(new Set(intents.from(event).map((status) => intents.next(status, event)))).toEqual(new Set([to]));
  }
});

test('only finalized and failed are final states', () => {
  const all: Status[] = ['accepted', 'signed', 'confirmed', 'reopened', 'finalized', 'failed'];
  expect(all.filter(intents.isTerminal)).toEqual(['finalized', 'failed']);
});

test('the metrics count the open states', () => {
  expect(intents.open).toEqual(INTENT_STATES);
});
