import { expect, test } from '@jest/globals';
import { eachPair } from '../../../../test/support/base/each-pair.ts';
import { type ChainStatus, chainStatuses, type Event, next, type Status, statuses } from './status.ts';

// biome-ignore format: a table
const EVENTS = ['signed', 'confirmed', 'finalized', 'failed', 'reopened', 'redeem', 'consume', 'elapse', 'sent', 'reissue', 'use', 'extend', 'capture', 'void'] as const;

test.each([
  // biome-ignore format: a table
  ...eachPair(statuses, EVENTS, {
    pending:  ['-', 'issued',   'issued',   'failed',   '-',        '-',        '-',        '-',       '-',        '-', '-', '-', '-', '-'],
    authorized: ['-', '-', '-', '-', '-', '-', '-', '-', '-', '-', 'authorized', 'authorized', 'capturing', 'voided'],
    capturing: ['-', 'redeemed', 'redeemed', 'failed', '-', '-', '-', '-', '-', '-', '-', '-', '-', '-'],
    voided:   ['-', '-', '-', '-', '-', '-', '-', '-', '-', '-', '-', '-', '-', '-'],
    issued:   ['-', 'issued',   'issued',   'failed',   'issued',   'redeemed', 'redeemed', 'expired', 'redeemed', '-', '-', '-', '-', '-'],
    redeemed: ['-', 'redeemed', 'redeemed', 'redeemed', 'redeemed', '-',        'redeemed', '-',       '-',        'issued', '-', '-', '-', '-'],
    expired:  ['-', 'expired',  'expired',  'failed',   'expired',  '-',        '-',        '-',       '-',        '-', '-', '-', '-', '-'],
    failed:   ['-', '-',        '-',        '-',        '-',        '-',        '-',        '-',       '-',        '-', '-', '-', '-', '-'],
  }),
  // biome-ignore format: a table
  ...eachPair(chainStatuses, EVENTS, {
    pending:   ['-', 'confirmed', 'finalized', 'failed', '-',       '-',         '-',         '-',         'pending',   '-', '-', '-', '-', '-'],
    confirmed: ['-', '-',         'finalized', 'failed', 'pending', 'confirmed', 'confirmed', 'confirmed', 'confirmed', 'confirmed', '-', '-', '-', '-'],
    finalized: ['-', '-',         '-',         '-',      '-',       'finalized', 'finalized', 'finalized', 'finalized', 'finalized', '-', '-', '-', '-'],
    none:      ['-', '-', '-', '-', '-', '-', '-', '-', '-', '-', 'none', 'none', 'pending', 'none'],
    failed:    ['-', '-',         '-',         '-',      '-',       '-',         '-',         '-',         '-',         '-', '-', '-', '-', '-'],
  }),
])('in one column: %s on %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});

const state = (text: string) => {
  const [status, chain] = text.split('/') as [Status, ChainStatus];
  return { status, chain };
};

test.each<[string, Event, string | null]>([
  ['pending/pending', 'signed', null],
  ['pending/pending', 'confirmed', 'issued/confirmed'],
  ['pending/pending', 'finalized', 'issued/finalized'],
  ['pending/pending', 'failed', 'failed/failed'],
  ['pending/pending', 'reopened', null],
  ['pending/pending', 'redeem', null],
  ['pending/pending', 'consume', null],
  ['pending/pending', 'elapse', null],
  ['issued/confirmed', 'confirmed', null],
  ['issued/confirmed', 'finalized', 'issued/finalized'],
  ['issued/confirmed', 'reopened', 'issued/pending'],
  ['issued/confirmed', 'failed', 'failed/failed'],
  ['issued/confirmed', 'redeem', 'redeemed/confirmed'],
  ['issued/confirmed', 'consume', 'redeemed/confirmed'],
  ['issued/confirmed', 'elapse', 'expired/confirmed'],
  ['issued/pending', 'elapse', null],
  ['issued/pending', 'confirmed', 'issued/confirmed'],
  ['issued/pending', 'failed', 'failed/failed'],
  ['issued/pending', 'redeem', null],
  ['issued/pending', 'consume', null],
  ['pending/pending', 'sent', null],
  ['issued/pending', 'sent', 'redeemed/pending'],
  ['issued/confirmed', 'sent', 'redeemed/confirmed'],
  ['issued/finalized', 'sent', 'redeemed/finalized'],
  ['redeemed/confirmed', 'sent', null],
  ['failed/failed', 'sent', null],
  ['issued/finalized', 'failed', null],
  ['issued/finalized', 'reopened', null],
  ['issued/finalized', 'confirmed', null],
  ['issued/finalized', 'redeem', 'redeemed/finalized'],
  ['redeemed/confirmed', 'redeem', null],
  ['redeemed/confirmed', 'elapse', null],
  ['redeemed/confirmed', 'reissue', 'issued/confirmed'],
  ['redeemed/pending', 'reissue', null],
  ['issued/confirmed', 'reissue', null],
  ['redeemed/confirmed', 'reopened', 'redeemed/pending'],
  ['redeemed/pending', 'confirmed', 'redeemed/confirmed'],
  ['redeemed/pending', 'failed', 'redeemed/failed'],
  ['redeemed/finalized', 'consume', 'redeemed/finalized'],
  ['redeemed/pending', 'consume', null],
  ['redeemed/failed', 'consume', null],
  ['redeemed/failed', 'confirmed', null],
  ['expired/confirmed', 'redeem', null],
  ['expired/confirmed', 'consume', null],
  ['expired/confirmed', 'finalized', 'expired/finalized'],
  ['authorized/none', 'use', 'authorized/none'],
  ['authorized/none', 'capture', 'capturing/pending'],
  ['authorized/none', 'void', 'voided/none'],
  ['authorized/none', 'redeem', null],
  ['authorized/none', 'confirmed', null],
  ['capturing/pending', 'confirmed', 'redeemed/confirmed'],
  ['capturing/pending', 'failed', 'failed/failed'],
  ['capturing/pending', 'use', null],
  ['capturing/pending', 'void', null],
  ['redeemed/confirmed', 'capture', null],
  ['voided/none', 'use', null],
  ['voided/none', 'capture', null],
  ['failed/failed', 'confirmed', null],
  ['failed/failed', 'failed', null],
  ['failed/failed', 'redeem', null],
  ['failed/failed', 'consume', null],
])('%s on %s', (from, event, expected) => {
  expect(next(state(from), event)).toEqual(expected === null ? null : state(expected));
});

test('a payment under way is pending or confirmed on the chain, and no event leaves its end there', () => {
  expect(chainStatuses.open).toEqual(['pending', 'confirmed', 'none']);
  expect(statuses.states.filter(statuses.isTerminal)).toEqual(['voided', 'failed']);
});

test('no other states occur', () => {
  const reached = new Set(['pending/pending', 'authorized/none']);
  for (const text of reached)
    for (const event of EVENTS) {
      const to = next(state(text), event);
      if (to !== null) reached.add(`${to.status}/${to.chain}`);
    }
  expect([...reached].sort()).toEqual([
    ...['authorized/none', 'capturing/pending', 'expired/confirmed', 'expired/finalized', 'expired/pending'],
    ...['failed/failed'],
    ...['issued/confirmed', 'issued/finalized', 'issued/pending', 'pending/pending'],
    ...['redeemed/confirmed', 'redeemed/failed', 'redeemed/finalized', 'redeemed/pending'],
    ...['voided/none'],
  ]);
});
