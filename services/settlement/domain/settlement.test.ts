import { expect, test } from '@jest/globals';
import { type ChainStatus, type Event, next, type Status } from './settlement.ts';

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
  ['issued/finalized', 'failed', null],
  ['issued/finalized', 'reopened', null],
  ['issued/finalized', 'confirmed', null],
  ['issued/finalized', 'redeem', 'redeemed/finalized'],
  ['redeemed/confirmed', 'redeem', null],
  ['redeemed/confirmed', 'elapse', null],
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
  ['failed/failed', 'confirmed', null],
  ['failed/failed', 'failed', null],
  ['failed/failed', 'redeem', null],
  ['failed/failed', 'consume', null],
])('%s on %s', (from, event, expected) => {
  expect(next(state(from), event)).toEqual(expected === null ? null : state(expected));
});
