import { z } from 'zod';
import { AccountId, label, MicroUsdcOrZero, PaymentAttemptId, Timestamp } from './primitives.ts';
import { operatorOperation } from './service.ts';

/**
 * Why an operator changes something with `npm run ops`. It is recorded with the change, and so is
 * the operator's name, which no caller enters: the server has verified it (docs/adr/0018).
 */
export const Reason = label(500, 'ticket 1042');

/**
 * Why an operator looks at a person's records, and which looks are one: a command asks several
 * services, some of them several times.
 */
const Inspection = z.strictObject({ ticket: Reason, inspection_id: z.uuid() });
export type Inspection = z.infer<typeof Inspection>;
/**
 * The field of an operation that shows something about a person. The handler requires it
 * (shared/operator/inspections.ts).
 */
export const inspectionField = { inspection: Inspection.optional() };

/** Who restores a copy, and why. The name is what the owner of the database enters. */
export const restoreFields = { actor: label(100, 'jane'), reason: Reason };

/** One recorded operator action. `before` and `after` are the changed state as JSON. */
export const OperatorAction = z.strictObject({
  action_id: z.int(),
  at: Timestamp,
  actor: z.string(),
  action: z.string(),
  /** The object of the action: an account, `intake`, a quarantined message. */
  target: z.string(),
  reason: z.string(),
  before: z.unknown(),
  after: z.unknown(),
});
export type OperatorAction = z.infer<typeof OperatorAction>;

/** An action's place in the chain of its service, and its hash (shared/db/migrations). */
const ActionHash = z.strictObject({
  action_id: z.int().min(1),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});
export type ActionHash = z.infer<typeof ActionHash>;

/** The result of a check of the actions of a service. */
const ActionChain = z.strictObject({
  actions: z.int().min(0),
  /** The newest action. A later check can prove that it is still there. */
  head: ActionHash.nullable(),
  /** The first action that was changed, or that does not follow the one before it. */
  broken_at: z.int().nullable(),
  /** Whether the known action is still there with its hash. Null: none was named. */
  known_found: z.boolean().nullable(),
});
export type ActionChain = z.infer<typeof ActionChain>;

/** The possible decisions on a quarantined message (docs/operations.md). */
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

/** The maximum number of ids and of attempts in one call of findRecords. */
export const MAX_REFERENCES = 100;
/**
 * Names of objects. An attempt is named with its account, because its payer chose the id. The hash
 * of a message and the signature of a transaction are ids, too.
 */
const references = {
  ids: z.array(z.string().min(1).max(128)),
  attempts: z.array(z.strictObject({ account_id: AccountId, payment_attempt_id: PaymentAttemptId })),
};
const References = z.strictObject(references);
export type References = z.infer<typeof References>;

/**
 * One thing that happened to an object. Details are ids, amounts, codes and states, never secrets.
 */
const RecordEntry = z.strictObject({
  at: Timestamp,
  object_id: z.string(),
  what: z.string(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
export type RecordEntry = z.infer<typeof RecordEntry>;

/** Whose records are read, since when, and at most how many of each kind. */
const AccountQuery = z.strictObject({
  account_id: AccountId,
  since: Timestamp.nullable(),
  limit: z.int().min(1).max(MAX_REFERENCES),
  ...inspectionField,
});
export type AccountQuery = z.infer<typeof AccountQuery>;

/** A piece of open work, for what it waits, and what happens next. */
const Waiting = z.strictObject({
  /** The id that `payment show` takes. */
  object_id: z.string(),
  /** What it is: `payment`, `refund`, or a kind of work of chain-submitter. */
  kind: z.string(),
  state: z.string(),
  since: Timestamp,
  account_id: AccountId.nullable(),
  waits_for: z.string(),
  /** When it is tried again by itself. Null: not at a known time. */
  next_at: Timestamp.nullable(),
});
export type Waiting = z.infer<typeof Waiting>;

/** Committed messages of one subject that are not published yet. */
const Unsent = z.strictObject({ subject: z.string(), messages: z.int().min(1), oldest_at: Timestamp });

/** For the services that hold hourly caps. shared/operator/caps.ts makes the answer. */
export const getCapsOperation = operatorOperation({
  summary: 'The hourly caps, and the wallets and accounts that used most of their cap in this hour',
  input: z.strictObject({}),
  output: z.strictObject({
    environment_cap: MicroUsdcOrZero,
    account_cap: MicroUsdcOrZero,
    wallet_cap: MicroUsdcOrZero,
    used: z.array(
      z.strictObject({
        of: z.enum(['wallet', 'account', 'environment']),
        /** A wallet's address, an account's id, or null for the environment. */
        id: z.string().nullable(),
        reserved: MicroUsdcOrZero,
        cap: MicroUsdcOrZero,
        resets_at: Timestamp,
      }),
    ),
  }),
});

/** For the services whose replicas own lanes. shared/lanes/store.ts makes the answer. */
export const listReplicasOperation = operatorOperation({
  summary: 'The running replicas, how loaded they are, and which lanes they own. A stand-by owns none.',
  input: z.strictObject({}),
  output: z.array(
    z.strictObject({
      replica_id: z.string(),
      /** The used part of a core. */
      load: z.number(),
      lanes: z.array(z.int().min(0)),
    }),
  ),
});

/**
 * The operator operations of every service. The handlers are in shared/operator/handlers.ts, the
 * same for all.
 */
export const operatorOperations = {
  listOperatorActions: operatorOperation({
    summary:
      'What operators have changed and looked at in this service, newest first, of one target or of all',
    input: z.strictObject({
      limit: z.int().min(1).max(MAX_LISTED),
      /** An account, or what else the actions name. */
      target: z.string().min(1).max(200).optional(),
    }),
    output: z.array(OperatorAction),
  }),
  verifyOperatorActions: operatorOperation({
    summary:
      'Checks the chain of the operator actions recorded in this service, and that a known action is in it',
    input: z.strictObject({ known: ActionHash.nullable() }),
    output: ActionChain,
  }),
  getBacklog: operatorOperation({
    summary: 'How many committed messages are not published yet. A drained environment has none.',
    input: z.strictObject({}),
    output: z.strictObject({ outbox: z.int().min(0) }),
  }),
  listWaiting: operatorOperation({
    summary: 'The oldest open work of this service, for what it waits, and when it is tried again',
    input: z.strictObject({ limit: z.int().min(1).max(MAX_LISTED) }),
    output: z.array(Waiting),
  }),
  listUnsent: operatorOperation({
    summary:
      'The committed messages that are not published yet, of the oldest 10,000, by their subject, the oldest first',
    input: z.strictObject({}),
    output: z.array(Unsent),
  }),
  findRecords: operatorOperation({
    summary:
      'What this service has recorded about payments and transfers, by any of their ids, and the names of related objects',
    input: z.strictObject({
      ids: references.ids.max(MAX_REFERENCES),
      attempts: references.attempts.max(MAX_REFERENCES),
      ...inspectionField,
    }),
    output: z.strictObject({ related: References, entries: z.array(RecordEntry) }),
  }),
  listAccountRecords: operatorOperation({
    summary:
      'What this service has recorded about the newest payments, sales and transfers of an account, or about its wallets and mails',
    input: AccountQuery,
    output: z.array(RecordEntry),
  }),
  listQuarantined: operatorOperation({
    summary: 'Quarantined messages, oldest first: those without a decision, or all',
    input: z.strictObject({ decided: z.boolean(), limit: z.int().min(1).max(MAX_LISTED) }),
    output: z.array(Quarantined),
  }),
  findQuarantined: operatorOperation({
    summary: 'A quarantined message with its body and details about its subject. Null if it does not exist.',
    input: z.strictObject({ quarantine_id: z.int().min(1) }),
    output: z.strictObject({ ...quarantined, body: z.string(), details: z.unknown() }).nullable(),
  }),
  decideQuarantined: operatorOperation({
    summary:
      'Records a decision on a quarantined message. A decision that the record or the chain contradicts is refused (conflict).',
    input: z.strictObject({ quarantine_id: z.int().min(1), decision: z.enum(DECISIONS), reason: Reason }),
    output: Quarantined,
  }),
};
