import { z } from 'zod';
import { accountOperations } from './identity.account.ts';
import { delegateOperations } from './identity.delegates.ts';
import { Service, serviceOperations } from './identity.services.ts';
import { signInOperations } from './identity.sign-in.ts';
import { operatorFields, operatorOperations } from './operator.ts';
import { AccountId, DelegateId, EventId, label, ServiceId, Timestamp, WalletId } from './primitives.ts';
import { Principal } from './principal.ts';
import { internalOperation, service } from './service.ts';

/** Bounded, so that a slip of the finger cannot switch an account's limits off. */
export const MAX_LIMIT_FACTOR = 1000;
const LimitFactor = z.int().min(1).max(MAX_LIMIT_FACTOR);

/** What operators have set for an account. */
export const AccountStatus = z.strictObject({
  account_id: AccountId,
  email: z.string(),
  created_at: Timestamp,
  frozen_at: Timestamp.nullable(),
  limit_factor: LimitFactor,
});

/** What distinguishes a change of an account, whose account it is, and when it was made. */
const change = { change_id: EventId, account_id: AccountId, at: Timestamp };

export const identity = service({
  name: 'identity',
  operations: {
    ...signInOperations,
    ...accountOperations,
    ...serviceOperations,
    ...delegateOperations,
  },
  internal: {
    findKey: internalOperation({
      summary:
        'The principal behind a service or delegate key, by the SHA-256 of its text. Null when unknown or ended.',
      callers: ['gateway'],
      input: z.strictObject({ key_hash: z.string().regex(/^[A-Za-z0-9_-]{43}$/) }),
      output: z.strictObject({ principal: Principal, limit_factor: LimitFactor }).nullable(),
    }),
    findSession: internalOperation({
      summary: 'Whether a sign-in is still open, and the status of its account',
      callers: ['gateway'],
      input: z.strictObject({ session_id: z.string().max(64), account_id: AccountId }),
      output: z.strictObject({ open: z.boolean(), frozen: z.boolean(), limit_factor: LimitFactor }),
    }),
    isFrozen: internalOperation({
      summary: 'Whether an operator has frozen an account; false for one that is not known',
      callers: ['settlement'],
      input: z.strictObject({ account_id: AccountId }),
      output: z.strictObject({ frozen: z.boolean() }),
    }),
    getAccountStatus: internalOperation({
      summary: 'The status of an account. Null if it does not exist.',
      callers: ['operator'],
      input: z.strictObject({ account_id: AccountId }),
      output: AccountStatus.nullable(),
    }),
    listAccountStatuses: internalOperation({
      summary: 'Accounts that are frozen or have raised limits',
      callers: ['operator'],
      input: z.strictObject({ limit: z.int().min(1).max(1000) }),
      output: z.array(AccountStatus),
    }),
    setFrozen: internalOperation({
      summary:
        'Freezes an account or gives it back; null when there is none. What stands already is left alone.',
      callers: ['operator'],
      input: z.strictObject({ account_id: AccountId, frozen: z.boolean(), ...operatorFields }),
      output: z.strictObject({ changed: z.boolean(), account_status: AccountStatus }).nullable(),
    }),
    setLimitFactor: internalOperation({
      summary: 'Multiplies the request limits of an account, 1 as the contract says; null when there is none',
      callers: ['operator'],
      input: z.strictObject({ account_id: AccountId, limit_factor: LimitFactor, ...operatorFields }),
      output: z.strictObject({ changed: z.boolean(), account_status: AccountStatus }).nullable(),
    }),
    ...operatorOperations,
    findService: internalOperation({
      summary: 'What a quote needs of a service. Null when there is none.',
      callers: ['quote'],
      input: z.strictObject({ service_id: ServiceId }),
      output: z.strictObject({ ...Service.shape, account_id: AccountId }).nullable(),
    }),
  },
  events: {
    /** Keys that are refused from now on, by the hash of their text, so that caches drop them. */
    keysRevoked: z.strictObject({ key_hashes: z.array(z.string()) }),
    sessionRevoked: z.strictObject({ account_id: AccountId, session_id: z.string() }),
    delegateChanged: z.strictObject({
      ...change,
      change: z.enum(['created', 'updated', 'deleted']),
      delegate_id: DelegateId,
      name: label(80, 'Research agent'),
      wallet_id: WalletId,
      expires_at: Timestamp.nullable(),
    }),
    /**
     * Of a service or of a delegate: a new key in place of the current one, or the end of all.
     * Never a key or its hash.
     */
    keyChanged: z.strictObject({
      ...change,
      change: z.enum(['rotated', 'revealed', 'ended']),
      service_id: ServiceId.nullable(),
      delegate_id: DelegateId.nullable(),
      previous_key_expires_at: Timestamp.nullable(),
    }),
  },
  jobs: {},
  consumes: ['settlement.issued', 'webhook.endpointDisabled'],
});
