import { expect, test } from '@jest/globals';
import {
  type LedgerRow,
  NOT_LISTED,
  ofMessage,
  type Refusal,
  untrueRefusals,
} from './support/rules/refusals.ts';

const row: LedgerRow = {
  settlementId: 'stl_1',
  accountId: 'acct_1',
  attemptId: 'a1',
  quoteId: 'q_1',
  acceptedAt: 1000,
  failedAt: null,
  paid: true,
};
const refusal: Refusal = {
  accountId: 'acct_1',
  attemptId: 'a1',
  quoteId: 'q_1',
  askedAt: 2000,
  at: 2100,
  code: 'limit_exceeded',
  moneyMoved: 'no',
  safeAction: 'raise_limit',
  settlementId: undefined,
};
const named = {
  code: 'quote_already_settled',
  moneyMoved: 'yes',
  safeAction: 'read_settlement',
  settlementId: 'stl_1',
};

test.each<[what: string, refusal: Partial<Refusal>, row: Partial<LedgerRow>, untrue: boolean]>([
  ['"no" of an attempt that is paid', {}, {}, true],
  ['"no" of a quote that another attempt of the account has paid', { attemptId: 'a2' }, {}, true],
  ['advice to give up, without "no"', { moneyMoved: 'unknown', safeAction: 'stop' }, {}, true],
  ['"no" of another account', { accountId: 'acct_2' }, {}, false],
  ['"no" before the acceptance', { askedAt: 500, at: 600 }, {}, false],
  ['"no" during the acceptance', { askedAt: 900 }, {}, false],
  [
    'the same, where only its hold can be the reason',
    { askedAt: 900, causedByItself: ['limit_exceeded'] },
    {},
    true,
  ],
  ['"no" after it has failed', {}, { failedAt: 1500, paid: false }, false],
  ['"unknown"', { moneyMoved: 'unknown', safeAction: 'retry_same_attempt' }, {}, false],
  ['an empty list of an attempt that exists', { code: NOT_LISTED, safeAction: undefined }, {}, true],
  [
    'an empty list with another attempt of the quote',
    { code: NOT_LISTED, safeAction: undefined, attemptId: 'a2' },
    {},
    false,
  ],
  ['a named settlement', { ...named, attemptId: 'a2' }, {}, false],
  ['a named settlement of another attempt', { ...named, settlementId: 'stl_2' }, {}, true],
  ['"yes" of a payment that was never made', named, { paid: false }, true],
  ['a settlement to read without its id', { ...named, settlementId: undefined }, {}, true],
])('%s', (_, said, of, untrue) => {
  expect(untrueRefusals([{ ...refusal, ...said }], [{ ...row, ...of }])).toHaveLength(untrue ? 1 : 0);
});

const MESSAGE = { accountId: 'acct_1', hash: 'message-1' };
const settled: LedgerRow = { ...row, attemptId: 'message-1', quoteId: 'message-1' };

test.each<[what: string, moneyMoved: string, row: Partial<LedgerRow>, untrue: boolean]>([
  ['"no" of a message that is under way', 'no', { paid: false }, true],
  ['"no" of a message that is paid', 'no', {}, true],
  ['"no" of a message that failed later', 'no', { paid: false, failedAt: 3000 }, true],
  ['"no" of a message that has failed', 'no', { paid: false, failedAt: 1500 }, false],
  ['"no" of a message that was accepted during the call', 'no', { acceptedAt: 2050 }, false],
  ['"no" of a message without a settlement', 'no', { attemptId: 'message-2', quoteId: 'message-2' }, false],
  ['"yes" of a message that is paid', 'yes', {}, false],
  ['"yes" of a message that was never confirmed', 'yes', { paid: false }, true],
  ['"unknown" of any message', 'unknown', {}, false],
])('of x402 and MPP: %s', (_, moneyMoved, of, untrue) => {
  const code = 'validation_error';
  const said = ofMessage(MESSAGE, { askedAt: 2000, at: 2100, code, moneyMoved });
  expect(untrueRefusals([said], [{ ...settled, ...of }])).toHaveLength(untrue ? 1 : 0);
});
