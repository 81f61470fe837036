import { expect, test } from '@jest/globals';
import { type DelegationRecord, delegationStatus } from './delegation.ts';

const OURS = 'ours';
const fresh: DelegationRecord = { authority: OURS, approving: false, lastConfirmed: null };
const approving: DelegationRecord = { ...fresh, approving: true };
const approved: DelegationRecord = { ...fresh, lastConfirmed: 'approve' };
const revoked: DelegationRecord = { ...fresh, lastConfirmed: 'revoke' };

const absent = { exists: false, delegate: null, allowance: 0n };
const cleared = { exists: true, delegate: null, allowance: 0n };
const active = { exists: true, delegate: OURS, allowance: 5n };
const empty = { exists: true, delegate: OURS, allowance: 0n };
const foreign = { exists: true, delegate: 'another', allowance: 5n };

test.each([
  ['new wallet without a token account', fresh, absent, 'none'],
  ['new wallet', fresh, cleared, 'none'],
  ['new wallet that delegates to somebody else', fresh, foreign, 'none'],
  ['submitted', approving, cleared, 'pending'],
  ['submitted, token account not there yet', approving, absent, 'pending'],
  ['submitted over another delegate', approving, foreign, 'pending'],
  ['submitted, the chain is ahead of the fact', approving, active, 'active'],
  ['confirmed', approved, active, 'active'],
  ['approved from outside', fresh, active, 'active'],
  ['renewed while the old one holds', { ...approved, approving: true }, active, 'active'],
  ['renewed after it was used up', { ...approved, approving: true }, cleared, 'pending'],
  ['used up', approved, cleared, 'exhausted'],
  ['used up, delegate still named', approved, empty, 'exhausted'],
  ['overwritten', approved, foreign, 'overwritten'],
  ['overwritten after our revoke', revoked, foreign, 'overwritten'],
  ['revoked', revoked, cleared, 'revoked'],
  ['revoked, the chain lags behind the fact', revoked, active, 'active'],
  ['token account closed by its owner', approved, absent, 'revoked'],
  ['delegated again after a revoke', { ...revoked, approving: true }, cleared, 'pending'],
] as const)('delegation: %s', (_name, record, sight, expected) => {
  expect(delegationStatus(record, sight)).toBe(expected);
});
