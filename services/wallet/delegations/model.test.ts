import { expect, test } from '@jest/globals';
import { type DelegationRecord, delegationStatus, needsSpending } from './model.ts';

const fresh: DelegationRecord = { approving: false, lastConfirmed: null, approved: null };
const approving: DelegationRecord = { ...fresh, approving: true };
const approved: DelegationRecord = { ...fresh, lastConfirmed: 'approve', approved: 10n };
const revoked: DelegationRecord = { ...fresh, lastConfirmed: 'revoke' };

const absent = { exists: false, delegate: null, served: false, allowance: 0n };
const cleared = { exists: true, delegate: null, served: false, allowance: 0n };
const active = { exists: true, delegate: 'ours', served: true, allowance: 5n };
const empty = { exists: true, delegate: 'ours', served: true, allowance: 0n };
const foreign = { exists: true, delegate: 'another', served: false, allowance: 5n };

test.each([
  ['new wallet without a token account', fresh, absent, 0n, 'none'],
  ['new wallet', fresh, cleared, 0n, 'none'],
  ['new wallet that delegates to somebody else', fresh, foreign, 0n, 'none'],
  ['submitted', approving, cleared, 0n, 'pending'],
  ['submitted, token account not there yet', approving, absent, 0n, 'pending'],
  ['submitted over another delegate', approving, foreign, 0n, 'pending'],
  ['submitted, the chain is ahead of the fact', approving, active, 0n, 'active'],
  ['confirmed', approved, active, 0n, 'active'],
  ['approved from outside', fresh, active, 0n, 'active'],
  ['renewed while the old one holds', { ...approved, approving: true }, active, 0n, 'active'],
  ['renewed after it was used up', { ...approved, approving: true }, cleared, 10n, 'pending'],
  ['used up', approved, cleared, 10n, 'exhausted'],
  ['used up, delegate still named', approved, empty, 10n, 'exhausted'],
  ['taken back by the owner elsewhere', approved, cleared, 0n, 'revoked'],
  ['taken back with one unit left', approved, cleared, 9n, 'revoked'],
  ['overwritten', approved, foreign, 10n, 'overwritten'],
  ['retired authority', approved, { ...active, served: false }, 0n, 'overwritten'],
  ['overwritten after our revoke', revoked, foreign, 0n, 'overwritten'],
  ['revoked', revoked, cleared, 10n, 'revoked'],
  ['revoked, the chain lags behind the fact', revoked, active, 0n, 'active'],
  ['token account closed by its owner', approved, absent, 10n, 'revoked'],
  ['delegated again after a revoke', { ...revoked, approving: true }, cleared, 0n, 'pending'],
] as const)('delegation: %s', (_name, record, sight, spent, expected) => {
  expect(delegationStatus(record, sight, spent)).toBe(expected);
});

test('what was paid is asked for only where it decides', () => {
  expect(needsSpending(approved, cleared)).toBe(true);
  for (const [record, sight] of [
    [approved, active],
    [approved, foreign],
    [approved, absent],
    [revoked, cleared],
    [fresh, cleared],
    [{ ...approved, approving: true }, cleared],
  ] as const)
    expect(needsSpending(record, sight)).toBe(false);
});
