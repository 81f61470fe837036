import { expect, test } from '@jest/globals';
import { eachPair } from '../../../../test/support/base/each-pair.ts';
import { schedules } from './schedule.ts';

const EVENTS = ['plan', 'write', 'end'] as const;

test.each(
  // biome-ignore format: a table
  eachPair(schedules, EVENTS, {
    due:     ['due', 'writing', '-'],
    writing: ['-',   '-',       'due'],
  }),
)('each pair: transition of a schedule in state %s on %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});
