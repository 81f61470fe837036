import { expect, test } from '@jest/globals';
import { type DelegationRecord, delegationStatus, needsSpending } from './delegation-status.ts';

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
  ['submitted, without a token account yet', approving, absent, 0n, 'pending'],
  ['submitted over another delegate', approving, foreign, 0n, 'pending'],
  ['submitted, the chain is ahead of the event', approving, active, 0n, 'active'],
  ['confirmed', approved, active, 0n, 'active'],
  ['approved from outside', fresh, active, 0n, 'active'],
  ['renewed while the old approval is active', { ...approved, approving: true }, active, 0n, 'active'],
  ['renewed after it was exhausted', { ...approved, approving: true }, cleared, 10n, 'pending'],
  ['exhausted', approved, cleared, 10n, 'exhausted'],
  ['exhausted, with the delegate still on the token account', approved, empty, 10n, 'exhausted'],
  ['revoked by the owner in another app', approved, cleared, 0n, 'revoked'],
  ['revoked with one unit left', approved, cleared, 9n, 'revoked'],
  ['overwritten', approved, foreign, 10n, 'overwritten'],
  ['retired authority', approved, { ...active, served: false }, 0n, 'overwritten'],
  ['overwritten after our revoke', revoked, foreign, 0n, 'overwritten'],
  ['revoked', revoked, cleared, 10n, 'revoked'],
  ['revoked, the chain lags behind the event', revoked, active, 0n, 'active'],
  ['token account closed by its owner', approved, absent, 10n, 'revoked'],
  ['delegated again after a revoke', { ...revoked, approving: true }, cleared, 0n, 'pending'],
] as const)('the delegation status of a wallet: %s', (_name, record, observation, spent, expected) => {
  expect(delegationStatus(record, observation, spent)).toBe(expected);
});

test('the spending is needed only where the status depends on it', () => {
  expect(needsSpending(approved, cleared)).toBe(true);
  for (const [record, observation] of [
    [approved, active],
    [approved, foreign],
    [approved, absent],
    [revoked, cleared],
    [fresh, cleared],
    [{ ...approved, approving: true }, cleared],
  ] as const)
    expect(needsSpending(record, observation)).toBe(false);
});
