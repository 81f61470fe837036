import { expect, test } from '@jest/globals';
import type { ChainError } from './chain-error.ts';
import { errorKind, settleFailure } from './failure.ts';
import type { TokenAccount } from './token-account.ts';

test.each<[string, ChainError, number | null, string]>([
  ['an old blockhash', 'BlockhashNotFound', null, 'stale'],
  ['a fee payer without lamports', 'InsufficientFundsForFee', null, 'ours'],
  ['a fee payer that does not exist', 'AccountNotFound', null, 'ours'],
  ['a minter below rent', { InsufficientFundsForRent: { account_index: 0 } }, null, 'ours'],
  ['rent that cannot be paid', { InstructionError: [0, { Custom: 1 }] }, 0, 'ours'],
  [
    'rent that cannot be paid, behind the compute budget',
    { InstructionError: [2, { Custom: 1 }] },
    2,
    'ours',
  ],
  ['the first transfer, without a creation', { InstructionError: [0, { Custom: 1 }] }, null, 'proven'],
  ['the transfer after a creation', { InstructionError: [1, { Custom: 1 }] }, 0, 'proven'],
  ['a missing account', { InstructionError: [0, 'InvalidAccountData'] }, null, 'proven'],
])('the failure that a refused simulation shows: %s', (_name, error, creation, expected) => {
  expect(errorKind(error, creation)).toBe(expected);
});

const custom = (code: number): ChainError => ({ InstructionError: [0, { Custom: code }] });
const ready = (change: Partial<Extract<TokenAccount, { state: 'ready' }>>): TokenAccount => ({
  state: 'ready',
  balanceMicro: 10n,
  delegate: 'ours',
  allowanceMicro: 10n,
  frozen: false,
  ...change,
});

test.each<[string, ChainError, TokenAccount, string]>([
  ['0x1, balance too small', custom(1), ready({ balanceMicro: 9n }), 'insufficient_funds'],
  ['0x1, allowance too small', custom(1), ready({ allowanceMicro: 9n }), 'delegation_inactive'],
  ['0x1, both too small', custom(1), ready({ balanceMicro: 9n, allowanceMicro: 9n }), 'insufficient_funds'],
  [
    '0x4, revoked or used up',
    custom(4),
    ready({ delegate: null, allowanceMicro: 0n }),
    'delegation_inactive',
  ],
  ['0x4, overwritten', custom(4), ready({ delegate: 'another' }), 'delegation_inactive'],
  ['0x1, sufficient again since', custom(1), ready({}), 'insufficient_funds'],
  ['0x4, sufficient again since', custom(4), ready({}), 'delegation_inactive'],
  [
    'no token account',
    { InstructionError: [0, 'InvalidAccountData'] },
    { state: 'missing' },
    'insufficient_funds',
  ],
  ['transferred to another owner', custom(4), { state: 'foreign' }, 'delegation_inactive'],
  ['frozen', custom(17), ready({ frozen: true }), 'payment_failed'],
  ['anything else', custom(3), ready({}), 'payment_failed'],
])('rule 15: the failure reason of a refused payment: %s', (_name, error, source, expected) => {
  expect(settleFailure(error, source, { grossMicro: 10n, authority: 'ours' }).code).toBe(expected);
});
