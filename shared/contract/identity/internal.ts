import { z } from 'zod';
import { inspectionField, operatorOperations, Reason } from '../operator.ts';
import { AccountId, ServiceId, Timestamp } from '../primitives.ts';
import { Principal } from '../principal.ts';
import { listSentEvents } from '../sent-events.ts';
import { internalOperation, operatorOperation } from '../service.ts';
import { ServiceTerms } from './services.ts';
import { BrowserNonce, LONGEST_EMAIL } from './sign-in.ts';

/** Bounded, so that a typing error cannot effectively remove an account's limits. */
export const MAX_LIMIT_FACTOR = 1000;
const LimitFactor = z.int().min(1).max(MAX_LIMIT_FACTOR);
/** What operators have set for an account. */
export const AccountStatus = z.strictObject({
  account_id: AccountId,
  /** Null after erasure. */
  email: z.string().nullable(),
  created_at: Timestamp,
  frozen_at: Timestamp.nullable(),
  limit_factor: LimitFactor,
  closed_at: Timestamp.nullable(),
  erased_at: Timestamp.nullable(),
});

/**
 * Why a key that existed is refused. Only the holder of its whole text can learn this, because the
 * key is found by the hash of it.
 */
const KeyRefusal = z.enum(['revoked', 'delegate_deleted', 'delegate_expired']);
export type KeyRefusal = z.infer<typeof KeyRefusal>;

/**
 * An account, and the object by which it was found: the account itself, a service, a delegate or a
 * key.
 */
const FoundAccount = z.strictObject({
  account_status: AccountStatus,
  matched: z.enum(['account', 'service', 'delegate', 'key']),
  id: z.string(),
  state: z.string(),
});

/** What one call asks for. Its answers are in the order of the input. */
const atMost = <T extends z.ZodType>(one: T) => z.array(one).max(500);

/** The internal operations of identity. */
export const internal = {
  findKeys: internalOperation({
    summary:
      'The principal of each service or delegate key, by the SHA-256 of its text, or why the key is refused. Null if it is unknown.',
    callers: ['gateway'],
    input: z.strictObject({ key_hashes: atMost(z.string().regex(/^[A-Za-z0-9_-]{43}$/)) }),
    output: z.array(
      z
        .union([
          z.strictObject({
            principal: Principal,
            limit_factor: LimitFactor,
            /** Addresses and CIDR blocks from which the key may be used. Absent: from any. */
            allowed_ips: z.array(z.string()).optional(),
          }),
          z.strictObject({ refused: KeyRefusal, since: Timestamp }),
        ])
        .nullable(),
    ),
  }),
  findSessions: internalOperation({
    summary: 'Whether each sign-in is still open, and the status of its account',
    callers: ['gateway'],
    input: z.strictObject({
      sessions: atMost(z.strictObject({ session_id: z.string().max(64), account_id: AccountId })),
    }),
    output: z.array(z.strictObject({ open: z.boolean(), frozen: z.boolean(), limit_factor: LimitFactor })),
  }),
  isKnownBrowser: internalOperation({
    summary: 'Whether a browser has signed in with an e-mail address',
    callers: ['gateway'],
    input: z.strictObject({ email: z.string().max(LONGEST_EMAIL), browser_nonce: BrowserNonce }),
    output: z.strictObject({ known: z.boolean() }),
  }),
  isFrozen: internalOperation({
    summary: 'Whether an operator has frozen an account. False for an unknown account.',
    callers: ['settlement'],
    input: z.strictObject({ account_id: AccountId }),
    output: z.strictObject({ frozen: z.boolean() }),
  }),
  getAccountStatus: operatorOperation({
    summary: 'The status of an account. Null if it does not exist.',
    input: z.strictObject({ account_id: AccountId, ...inspectionField }),
    output: AccountStatus.nullable(),
  }),
  findAccounts: operatorOperation({
    summary:
      'The accounts that have this id, e-mail address, service, delegate or key. A key is named by its key_id or by the SHA-256 of its text.',
    input: z.strictObject({ text: z.string().min(1).max(320), ...inspectionField }),
    output: z.array(FoundAccount),
  }),
  listAccountStatuses: operatorOperation({
    summary: 'Accounts that are frozen or have raised limits',
    input: z.strictObject({ limit: z.int().min(1).max(1000), ...inspectionField }),
    output: z.array(AccountStatus),
  }),
  listWaitingMails: operatorOperation({
    summary: 'How many mails of each kind the mail server has not accepted yet, and when they are tried next',
    input: z.strictObject({}),
    output: z.array(
      z.strictObject({
        kind: z.string(),
        mails: z.int().min(1),
        /** Of the mail that was tried most often. */
        attempts: z.int().min(0),
        next_attempt_at: Timestamp,
      }),
    ),
  }),
  setFrozen: operatorOperation({
    summary:
      'Freezes or unfreezes an account. Null if it does not exist. Changes nothing if the account is in that state already.',
    input: z.strictObject({ account_id: AccountId, frozen: z.boolean(), reason: Reason }),
    output: z.strictObject({ changed: z.boolean(), account_status: AccountStatus }).nullable(),
  }),
  setLimitFactor: operatorOperation({
    summary:
      'Multiplies the request limits of an account. 1: the limits of the contract. Null if it does not exist.',
    input: z.strictObject({ account_id: AccountId, limit_factor: LimitFactor, reason: Reason }),
    output: z.strictObject({ changed: z.boolean(), account_status: AccountStatus }).nullable(),
  }),
  ...operatorOperations,
  listSentEvents: listSentEvents(['funding', 'settlement', 'wallet', 'webhook']),
  findService: internalOperation({
    summary:
      'A service with its account, for a quote or a payment of another protocol. Null if it does not exist.',
    callers: ['quote', 'settlement'],
    input: z.strictObject({ service_id: ServiceId }),
    output: z.strictObject({ ...ServiceTerms.shape, account_id: AccountId }).nullable(),
  }),
};
