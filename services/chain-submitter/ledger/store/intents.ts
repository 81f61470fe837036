import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { insertEventLists, type OutboxRow, outboxRow } from '../../../../shared/events/outbox.ts';
import { INTENT_KINDS, INTENT_STATES } from '../../../../shared/lib/telemetry/metrics-catalog.ts';
import type { Failure } from '../model/failure.ts';
import { type Event, intents } from '../model/state.ts';
import { finalRequest } from './final-request.ts';
import { unuseGrants, useGrants } from './grants.ts';
import { releaseHourlyCaps } from './hourly-release.ts';
import { countIncomingFailures } from './incoming-failures.ts';
import { addCosts, type CostColumns, noteUnreadCosts } from './network-costs.ts';
import { moment } from './settings.ts';
import {
  emptyTransactions,
  failTransactions,
  isLive,
  isRevivable,
  reviveTransactions,
} from './transactions.ts';

const Row = z.object({
  intent_id: z.string(),
  kind: z.enum(INTENT_KINDS),
  object_id: z.string(),
  request: z.unknown(),
  status: z.enum(intents.states),
  generation: z.number(),
  /** Of the newest transaction that was signed or adopted for it. */
  signature: z.string().nullable(),
  slot: z.bigint().nullable(),
  failure_code: z.enum(['insufficient_funds', 'delegation_inactive', 'payment_failed']).nullable(),
  failure_message: z.string().nullable(),
  traceparent: z.string().nullable(),
  created_at: z.number(),
});
export type IntentRow = z.infer<typeof Row>;

/** An intent with the bytes that may be included, if any. */
const Claimed = Row.extend({
  live_signature: z.string().nullable(),
  wire: z.instanceof(Buffer).nullable(),
  last_valid_block_height: z.bigint().nullable(),
  paused: z.boolean(),
  /**
   * The database's clock at the read. Deadlines are compared with it, not with the clock of a
   * process.
   */
  read_at: z.number(),
});
/**
 * An intent that this worker executes. Its request is the job as it came. `isRecorded` false: the
 * job has just come, and the intent is recorded with its first bytes.
 */
export type ClaimedIntent = z.infer<typeof Claimed> & { isRecorded: boolean };

const state = stateColumn(intents, sql.fragment`i.status`);

const columns = sql.fragment`i.intent_id, i.kind, i.object_id, i.request, i.status, i.generation, i.signature, i.slot,
  i.failure_code, i.failure_message, i.traceparent, i.created_at`;

/** The sweeper claims an intent without a lease after this time (rule 16). */
export const SWEEP_AFTER = '15 seconds';

/** An older job may have had a record that was written and lost again. */
export const FRESH_MS = 5000;

/** The intent that a job asks for. `generation`: the generations that its lost record had. */
export type NewIntent = Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'request'> & {
  generation?: number;
};
const Inserted = Claimed.pick({ intent_id: true, created_at: true, paused: true, read_at: true });

/**
 * Inserts intents, leased to the worker that received their jobs. This is one statement and its
 * commit, after which the messages may be acknowledged.
 * @returns in the order of the rows; null: the intent exists, because its job was dispatched again
 *   or redelivered
 */
export const insertIntents = async (
  db: Db,
  accepted: readonly ClaimedIntent[],
  workerId: string,
): Promise<(ClaimedIntent | null)[]> => {
  const rows = accepted.map(({ intent_id, kind, object_id, request, generation, traceparent }) => {
    return { intent_id, kind, object_id, request, generation, traceparent };
  });
  // The rows are inserted in the order of their ids, so that two workers with the same jobs cannot
  // deadlock.
  const inserted = await db.any(sql.type(Inserted)`
    insert into intents as i (intent_id, kind, object_id, request, status, generation, traceparent, worker_id, next_at)
    select v.intent_id, v.kind, v.object_id, v.request, 'accepted', v.generation, v.traceparent, ${workerId},
      app_now() + ${SWEEP_AFTER}::interval
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as v(intent_id text, kind text, object_id text,
      request jsonb, generation integer, traceparent text)
    order by v.intent_id
    on conflict (intent_id) do nothing
    returning i.intent_id, i.created_at, ${moment}`);
  const insertedById = new Map(inserted.map((row) => [row.intent_id, row]));
  return accepted.map((intent) => {
    const found = insertedById.get(intent.intent_id);
    return found === undefined ? null : { ...intent, ...found, isRecorded: true };
  });
};

const NOTHING_SIGNED = {
  status: 'accepted',
  signature: null,
  slot: null,
  failure_code: null,
  failure_message: null,
  live_signature: null,
  wire: null,
  last_valid_block_height: null,
} as const;

/**
 * The intent of a job that has just come. If it is recorded with its first bytes, `commitSigned`
 * decides by the clock of the database whether they are in time and whether the operator has paused
 * payments.
 * @param now epoch milliseconds of this process
 */
export const newIntent = (
  job: NewIntent,
  { traceparent, now }: { traceparent: string | null; now: number },
): ClaimedIntent => ({
  ...NOTHING_SIGNED,
  ...job,
  generation: job.generation ?? 0,
  traceparent,
  created_at: now,
  read_at: now,
  paused: false,
  isRecorded: false,
});

export const findIntent = (db: Db, intentId: string): Promise<IntentRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from intents i where i.intent_id = ${intentId}`);

/** The intents with these ids, in their order; null for an id without one. */
export const listIntents = async (db: Db, intentIds: readonly string[]): Promise<(IntentRow | null)[]> => {
  const found = await db.any(sql.type(Row)`
    select ${columns} from intents i where i.intent_id = any(${sql.array([...intentIds], 'text')})`);
  const byId = new Map(found.map((intent) => [intent.intent_id, intent]));
  return intentIds.map((id) => byId.get(id) ?? null);
};

/**
 * Whether another attempt to pay the same quote has failed. Its outcome is then checked at every
 * provider.
 */
export const hasFailedAttempt = (
  db: Db,
  { intent_id, request }: Pick<IntentRow, 'intent_id' | 'request'>,
): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ failed: z.boolean() }))`
    select exists (
      select from intents i where i.kind = 'settle' and ${state.is('failed')} and i.intent_id <> ${intent_id}
        and i.request ->> 'quote_token' = ${(request as { quote_token: string }).quote_token}
    ) as failed`);

const isOpen = stateColumn(intents, sql.fragment`c.status`).isOpen;

/**
 * Leases intents that no live worker executes: their delay is over, their worker died, or this
 * worker holds the lease but does not execute them. SKIP LOCKED keeps two replicas from claiming
 * the same intent.
 * @param executing the intents that this process executes at the moment
 * @param only a single intent that is claimed now, whatever its delay
 */
export const claimIntents = async (
  db: Db,
  {
    workerId,
    executing,
    limit,
    only = null,
  }: { workerId: string; executing: readonly string[]; limit: number; only?: string | null },
): Promise<readonly ClaimedIntent[]> => {
  const rows = await db.any(sql.type(Claimed)`
    with free as (
      select c.intent_id from intents c
      where ${isOpen}
        and (${only}::text is null or c.intent_id = ${only})
        and case
          when c.worker_id is null then c.next_at <= (select app_now()) or ${only}::text is not null
          when c.worker_id = ${workerId} then
            c.next_at <= (select app_now()) and c.intent_id not in (select unnest(${sql.array(executing, 'text')}))
          else c.worker_id <> all(array(select w.worker_id from workers w where w.alive_until > app_now()))
        end
      order by c.next_at limit ${limit} for update skip locked
    ), i as (
      update intents set worker_id = ${workerId}, next_at = app_now() + ${SWEEP_AFTER}::interval
      from free where intents.intent_id = free.intent_id returning intents.*
    )
    select ${columns}, t.signature as live_signature, t.wire, t.last_valid_block_height, ${moment}
    from i left join transactions t on t.intent_id = i.intent_id and ${isLive}`);
  return rows.map((row) => ({ ...row, isRecorded: true }));
};

/** Releases the lease of an intent. The sweeper claims it again after the delay. */
export const releaseIntent = (
  db: Db,
  intentId: string,
  workerId: string,
  delayMs: number,
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update intents set worker_id = null, next_at = app_now() + make_interval(secs => ${delayMs / 1000}::float8)
    where intent_id = ${intentId} and worker_id = ${workerId}`);

/** A transition of an intent in one generation, with the event that is published for it. */
export type Transition = Pick<
  IntentRow,
  'intent_id' | 'generation' | 'signature' | 'failure_code' | 'failure_message' | 'traceparent'
> & {
  slot: number | null;
  subject: string;
  msg_id: string;
  payload: unknown;
} & CostColumns;

/**
 * The bytes of the generation are not proven dead. A process that was stopped after it had read a
 * confirmation may come back when a fork has removed the transaction and its expiry is proven.
 */
const hasNoDeadBytes = sql.fragment`
        and not exists (select from transactions t where t.intent_id = i.intent_id
          and t.generation = i.generation and not ${isLive})`;

/**
 * Applies one event to intents, each only from a state that the event leaves and only in the
 * transition's generation. An intent that does not change publishes nothing. The states, the
 * transactions and grants that depend on them and the events are one statement. The array of ids
 * makes Postgres use the index in its order, whatever size the planner estimates for the JSON
 * parameter.
 * @returns outbox rows for `relay.dispatch`, of the intents that changed
 */
export const transitionIntents = (
  db: Db,
  event: Exclude<Event, 'sign'>,
  transitions: readonly Transition[],
): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(transitions)}::jsonb) as input(intent_id text, generation integer,
        signature text, slot bigint, failure_code text, failure_message text, subject text, msg_id text,
        payload jsonb, traceparent text, cost_account text, fee_lamports bigint, rent_lamports bigint)
    ), changed as (
      update intents i set status = ${state.after(event)}, signature = coalesce(input.signature, i.signature),
        slot = ${event === 'fork' ? sql.fragment`null` : sql.fragment`coalesce(input.slot, i.slot)`},
        failure_code = input.failure_code, failure_message = input.failure_message, progressed_at = app_now(),
        next_at = app_now() + ${SWEEP_AFTER}::interval,
        worker_id = ${intents.isTerminal(intents.to(event)) ? sql.fragment`null` : sql.fragment`i.worker_id`}
        ${event === 'finalize' ? sql.fragment`, request = ${finalRequest}` : sql.fragment``}
      from input where i.intent_id = any(array(select intent_id from input)) and i.intent_id = input.intent_id
        and i.generation = input.generation and ${state.allows(event)}${event === 'confirm' ? hasNoDeadBytes : sql.fragment``}
      returning i.intent_id, i.kind, i.signature, input.slot, input.subject, input.msg_id, input.payload,
        input.traceparent, input.cost_account, input.fee_lamports, input.rent_lamports
    )${effects[event]}
    ${insertEventLists(sql.fragment`
      select row_number() over () as position, subject, msg_id, payload, traceparent from changed`)}`);

/** What an event changes besides the intents, as common table expressions over `changed`. */
const effects = {
  confirm: useGrants,
  fork: unuseGrants,
  fail: sql.fragment`${failTransactions}${releaseHourlyCaps}${countIncomingFailures}${noteUnreadCosts}`,
  finalize: sql.fragment`${emptyTransactions}${addCosts}${noteUnreadCosts}`,
};

const Revived = z.object({ wire: z.instanceof(Buffer), last_valid_block_height: z.bigint() });

/**
 * Makes a generation of an intent live again that was recorded as expired and is on the chain. No
 * other is signed.
 * @returns its bytes, or null when the intent has changed meanwhile
 * @throws a unique violation when another generation of the intent is live (rule 9)
 */
export const reviveTransaction = (
  db: Db,
  { intent_id, generation }: { intent_id: string; generation: number },
  signature: string,
): Promise<z.infer<typeof Revived> | null> =>
  db.maybeOne(sql.type(Revived)`
    with revived as (
      update intents i set status = ${state.after('sign')}, signature = ${signature}, slot = null,
        progressed_at = app_now()
      from transactions t
      where i.intent_id = ${intent_id} and i.generation = ${generation}
        and ${state.allows('sign')}
        and t.intent_id = i.intent_id and t.signature = ${signature} and ${isRevivable}
      returning t.signature, t.intent_id
    )
    ${reviveTransactions}
    returning t.wire, t.last_valid_block_height`);

/**
 * Inserts a failed intent for which nothing was signed, so that a job that comes later finds its
 * failure.
 * @returns false when the intent exists, or its object belongs to another one
 */
export const insertFailedIntent = async (
  db: Db,
  row: Pick<IntentRow, 'intent_id' | 'object_id' | 'generation'> & { request: object; failure: Failure },
): Promise<boolean> => {
  const inserted = await db.maybeOne(sql.typeAlias('id')`
    insert into intents (intent_id, kind, object_id, request, status, generation, failure_code, failure_message, next_at)
    select ${row.intent_id}, 'settle', ${row.object_id}, ${JSON.stringify(row.request)}::jsonb, 'failed',
      ${row.generation}::int, ${row.failure.code}, ${row.failure.message}, app_now()
    where not exists (select from intents where kind = 'settle' and object_id = ${row.object_id})
    on conflict (intent_id) do nothing returning intent_id as id`);
  return inserted !== null;
};

/**
 * Inserts the failed intent of a payment of another client or to another vendor, for which nothing
 * is ever signed.
 * @param reason why it was refused; null when it was closed
 * @returns false when the intent exists. One that is being committed is waited for
 */
export const insertFailedPayment = async (
  db: Db,
  kind: 'incoming' | 'outgoing',
  row: {
    intentId: string;
    settlementId: string;
    reason: string | null;
    failure: Failure;
    signsLast?: boolean;
  },
): Promise<boolean> => {
  const { intentId, settlementId, reason, failure, signsLast = false } = row;
  const request = JSON.stringify({
    settlement_id: settlementId,
    ...(reason !== null && { reason }),
    ...(signsLast && { signs_last: true }),
  });
  const inserted = await db.maybeOne(sql.typeAlias('id')`
    insert into intents (intent_id, kind, object_id, request, status, failure_code, failure_message, next_at)
    values (${intentId}, ${kind}, ${settlementId}, ${request}::jsonb, 'failed', ${failure.code}, ${failure.message},
      app_now())
    on conflict (intent_id) do nothing returning intent_id as id`);
  return inserted !== null;
};

/** The watcher searches the chain for a new outgoing payment after this time. */
const FIRST_SEARCH_AFTER = '1 second';

/** @property since when it was accepted, if a restore has lost its record */
export type NewOutgoing = Pick<IntentRow, 'intent_id' | 'object_id' | 'traceparent'> & {
  request: object;
  since?: string;
};

/**
 * Inserts an outgoing payment whose bytes are committed with it. They may be included from then on,
 * or since another time if their record was lost.
 * @returns false when the intent exists. One that is being committed or closed is waited for
 */
export const insertOutgoingIntent = async (tx: Db, row: NewOutgoing): Promise<boolean> => {
  const inserted = await tx.maybeOne(sql.typeAlias('id')`
    insert into intents (intent_id, kind, object_id, request, status, traceparent, next_at, created_at)
    values (${row.intent_id}, 'outgoing', ${row.object_id}, ${JSON.stringify(row.request)}::jsonb,
      ${state.after('sign')}, ${row.traceparent}, app_now() + ${FIRST_SEARCH_AFTER}::interval,
      coalesce(${row.since ?? null}::timestamptz, app_now()))
    on conflict (intent_id) do nothing returning intent_id as id`);
  return inserted !== null;
};

const OpenCount = z.object({
  kind: z.enum(INTENT_KINDS),
  status: z.enum(INTENT_STATES),
  intents: z.bigint(),
  /** Seconds. */
  oldest_age: z.number(),
});

/**
 * Open intents by kind and state. The sweeper's partial index serves it, so only open rows are
 * read.
 */
export const countOpenByState = (db: Db): Promise<readonly z.infer<typeof OpenCount>[]> =>
  db.any(sql.type(OpenCount)`
    select kind, status, count(*) as intents, extract(epoch from app_now() - min(created_at))::float8 as oldest_age
    from intents i where ${state.isOpen}
    group by kind, status`);

/** The number of open intents. */
export const countOpen = (db: Db): Promise<bigint> =>
  db.oneFirst(sql.type(z.object({ intents: z.bigint() }))`
    select count(*) as intents from intents i where ${state.isOpen}`);

/**
 * Names another settlement as the one that an incoming or outgoing payment is of. Its events carry
 * the new id from now on.
 */
export const updateSettlementId = (db: Db, intentId: string, settlementId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update intents set object_id = ${settlementId} where intent_id = ${intentId}`);
