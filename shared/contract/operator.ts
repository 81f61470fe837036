import { z } from 'zod';
import { label, MicroUsdcOrZero, Timestamp } from './primitives.ts';
import { internalOperation } from './service.ts';

/** Who changes something by `npm run ops`, and why: part of every change, kept with it. */
export const operatorFields = {
  actor: label(100, 'jane'),
  reason: label(500, 'ticket 1042'),
};

/**
 * One row of the record of what operators did. `before` and `after` are what the change was about,
 * as JSON.
 */
export const OperatorAction = z.strictObject({
  action_id: z.int(),
  at: Timestamp,
  actor: z.string(),
  action: z.string(),
  /** What it was done to: an account, `intake`, a quarantined message. */
  target: z.string(),
  reason: z.string(),
  before: z.unknown(),
  after: z.unknown(),
});
export type OperatorAction = z.infer<typeof OperatorAction>;

/** What may be decided on a quarantined message (docs/operations.md). */
export const DECISIONS = ['retry', 'dismiss', 'included', 'failed'] as const;
export type Decision = (typeof DECISIONS)[number];

const quarantined = {
  quarantine_id: z.int().min(1),
  subject: z.string(),
  reason: z.string(),
  created_at: Timestamp,
  decided_at: Timestamp.nullable(),
  decision: z.string().nullable(),
};
export const Quarantined = z.strictObject(quarantined);

const MAX_LISTED = 200;

/**
 * Of the services that hold the hourly caps; what they answer is made by shared/operator/caps.ts.
 */
export const getCapsOperation = internalOperation({
  summary: 'The hourly caps, and the wallets and accounts that have used most of theirs in this hour',
  callers: ['operator'],
  input: z.strictObject({}),
  output: z.strictObject({
    environment_cap: MicroUsdcOrZero,
    account_cap: MicroUsdcOrZero,
    wallet_cap: MicroUsdcOrZero,
    used: z.array(
      z.strictObject({
        of: z.enum(['wallet', 'account', 'environment']),
        /** A wallet's address, an account's id, null of the environment. */
        id: z.string().nullable(),
        reserved: MicroUsdcOrZero,
        cap: MicroUsdcOrZero,
        resets_at: Timestamp,
      }),
    ),
  }),
});

/**
 * What every service answers to an operator; the handlers are shared/operator/handlers.ts, the same
 * for all.
 */
export const operatorOperations = {
  listOperatorActions: internalOperation({
    summary: 'What operators did here, newest first',
    callers: ['operator'],
    input: z.strictObject({ limit: z.int().min(1).max(MAX_LISTED) }),
    output: z.array(OperatorAction),
  }),
  getBacklog: internalOperation({
    summary: 'How many committed messages are not published yet, of which a drained environment has none',
    callers: ['operator'],
    input: z.strictObject({}),
    output: z.strictObject({ outbox: z.int().min(0) }),
  }),
  listQuarantined: internalOperation({
    summary: 'Messages set aside, oldest first: those that wait for a decision, or all',
    callers: ['operator'],
    input: z.strictObject({ decided: z.boolean(), limit: z.int().min(1).max(MAX_LISTED) }),
    output: z.array(Quarantined),
  }),
  findQuarantined: internalOperation({
    summary:
      'A quarantined message with its body and everything known about its subject. Null if it does not exist.',
    callers: ['operator'],
    input: z.strictObject({ quarantine_id: z.int().min(1) }),
    output: z.strictObject({ ...quarantined, body: z.string(), details: z.unknown() }).nullable(),
  }),
  decideQuarantined: internalOperation({
    summary: 'Decides one of them; refuses (conflict) what the record or the chain does not bear out',
    callers: ['operator'],
    input: z.strictObject({ quarantine_id: z.int().min(1), decision: z.enum(DECISIONS), ...operatorFields }),
    output: Quarantined,
  }),
};
