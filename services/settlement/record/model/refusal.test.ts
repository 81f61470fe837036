import { describe, expect, test } from '@jest/globals';
import {
  ERRORS,
  type ErrorCode,
  type ErrorExtras,
  ServiceError,
} from '../../../../shared/contract/errors.ts';
import { moneyMovedBy, type Records, refusalOf, type SettlementState } from './refusal.ts';
import type { ChainStatus, Status } from './status.ts';

const known = (
  settlement_id: string,
  status: Status,
  chain_status: ChainStatus = 'pending',
): SettlementState => ({
  settlement_id,
  status,
  chain_status,
});
const nothing: Records = { attempt: null, paying: null };
const said = (code: ErrorCode, records: Partial<Records>, extras: ErrorExtras = {}) => {
  const refusal = refusalOf(new ServiceError(code, 'why', extras), { ...nothing, ...records });
  return { code: refusal.code, ...refusal.extras };
};
const read = (code: ErrorCode, settlement_id: string, money_moved: string) => ({
  code,
  money_moved,
  safe_action: 'read_settlement',
  settlement_id,
});

test.each<[Status, ChainStatus, string]>([
  ['pending', 'pending', 'unknown'],
  ['issued', 'confirmed', 'yes'],
  ['issued', 'finalized', 'yes'],
  ['issued', 'pending', 'unknown'],
  ['redeemed', 'confirmed', 'yes'],
  ['redeemed', 'finalized', 'yes'],
  ['redeemed', 'pending', 'unknown'],
  ['redeemed', 'failed', 'unknown'],
  ['expired', 'finalized', 'yes'],
  ['expired', 'pending', 'unknown'],
  ['failed', 'failed', 'no'],
])('a settlement with status %s and payment %s: money moved is %s', (status, chain, moved) => {
  expect(moneyMovedBy(known('a', status, chain))).toBe(moved);
});

const paid = known('paid', 'issued', 'confirmed');
const pending = known('pending', 'pending');
const failed = known('failed', 'failed', 'failed');
const other = known('other', 'redeemed', 'finalized');

describe('attempt and quote as recorded', () => {
  test.each<[string, ErrorCode, Partial<Records>, ErrorExtras, object]>([
    [
      'neither',
      'quote_expired',
      {},
      { safe_action: 'new_quote' },
      { code: 'quote_expired', money_moved: 'no', safe_action: 'new_quote' },
    ],
    [
      'neither, and no action',
      'forbidden',
      {},
      {},
      { code: 'forbidden', money_moved: 'no', safe_action: 'stop' },
    ],
    [
      'neither, at present',
      'service_unavailable',
      {},
      { retryAfterSeconds: 2 },
      {
        code: 'service_unavailable',
        money_moved: 'unknown',
        safe_action: 'retry_same_attempt',
        retryAfterSeconds: 2,
      },
    ],
    [
      'neither, at present, after a search of the chain',
      'service_unavailable',
      {},
      { money_moved: 'no' },
      { code: 'service_unavailable', money_moved: 'no', safe_action: 'retry_same_attempt' },
    ],
    [
      'a new attempt id, the quote paid',
      'quote_expired',
      { paying: paid },
      { safe_action: 'new_quote' },
      read('quote_already_settled', 'paid', 'yes'),
    ],
    [
      'a new attempt id, the quote being paid',
      'limit_exceeded',
      { paying: pending },
      { safe_action: 'raise_limit' },
      read('quote_already_settled', 'pending', 'unknown'),
    ],
    [
      'a new attempt id, the quote paid, payments paused',
      'service_unavailable',
      { paying: paid },
      { retryAfterSeconds: 30 },
      read('quote_already_settled', 'paid', 'yes'),
    ],
    [
      'a new attempt id, the quote paid, its key removed',
      'validation_error',
      { paying: paid },
      {},
      read('validation_error', 'paid', 'yes'),
    ],
    ['by another delegate', 'conflict', { attempt: paid, paying: paid }, {}, read('conflict', 'paid', 'yes')],
    [
      'with another quote, that is not paid',
      'conflict',
      { attempt: pending },
      {},
      read('conflict', 'pending', 'unknown'),
    ],
    [
      'with another quote, that is paid too',
      'conflict',
      { attempt: paid, paying: other },
      {},
      read('conflict', 'other', 'yes'),
    ],
    [
      'failed, with another quote',
      'conflict',
      { attempt: failed },
      {},
      { code: 'conflict', money_moved: 'no', safe_action: 'stop' },
    ],
    [
      'failed, its quote paid by another attempt',
      'insufficient_funds',
      { attempt: failed, paying: other },
      { money_moved: 'no', safe_action: 'top_up' },
      read('insufficient_funds', 'other', 'yes'),
    ],
  ])('%s', (_name, code, records, extras, expected) => {
    expect(said(code, records, extras)).toEqual(expected);
  });
});

test('no refusal returns money_moved "no", a new quote or a stop beside a payment that was made or may still be made', () => {
  const states = [paid, pending, other, known('forked', 'issued')];
  const actions = [undefined, 'new_quote', 'stop', 'top_up', 'raise_limit', 'retry_same_attempt'] as const;
  for (const code of Object.keys(ERRORS) as ErrorCode[])
    for (const safe_action of actions)
      for (const row of states)
        for (const records of [{ paying: row }, { attempt: row }, { attempt: row, paying: row }]) {
          const extras = { money_moved: 'no' as const, ...(safe_action && { safe_action }) };
          const answer = said(code, records, extras);
          expect(answer).toMatchObject(read(answer.code, row.settlement_id, moneyMovedBy(row)));
          expect(answer.money_moved).not.toBe('no');
        }
});
