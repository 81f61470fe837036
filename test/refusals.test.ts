import { expect, test } from '@jest/globals';
import { type LedgerRow, NOT_LISTED, type Refusal, untrueRefusals } from './support/refusals.ts';

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
