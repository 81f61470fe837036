import { expect, test } from '@jest/globals';
import { type Event, isTerminal, next, type Status, step } from './intent.ts';

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
])('an intent that is %s, then %s: %s', (status, event, expected) => {
  expect(next(status, event)).toBe(expected);
});

test('every event leads to one state, wherever it comes from', () => {
  for (const event of ['sign', 'confirm', 'finalize', 'fork', 'fail'] as const) {
    const { from, to } = step(event);
    expect(new Set(from.map((status) => next(status, event)))).toEqual(new Set([to]));
  }
});

test('only finalized and failed are ends', () => {
  const all: Status[] = ['accepted', 'signed', 'confirmed', 'reopened', 'finalized', 'failed'];
  expect(all.filter(isTerminal)).toEqual(['finalized', 'failed']);
});
