import { z } from 'zod';
import { type OutboxRow, type Outgoing, outboxRow, outboxValues } from '../../../shared/db/outbox.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import type { Failure } from '../domain/failure.ts';
import { type Event, step } from '../domain/intent.ts';

const Status = z.enum(['accepted', 'signed', 'confirmed', 'finalized', 'failed', 'reopened']);
const Row = z.object({
  intent_id: z.string(),
  kind: z.enum(['settle', 'fund', 'createTokenAccount', 'delegation', 'withdrawal', 'refund']),
  object_id: z.string(),
  request: z.unknown(),
  status: Status,
  generation: z.number(),
  tx_hash: z.string().nullable(),
  slot: z.bigint().nullable(),
  failure_code: z.enum(['insufficient_funds', 'delegation_inactive', 'payment_failed']).nullable(),
  failure_message: z.string().nullable(),
  traceparent: z.string().nullable(),
  created_at: z.number(),
});
export type IntentRow = z.infer<typeof Row>;

/** An intent with the bytes that may land, if any. */
const Claimed = Row.extend({
  signature: z.string().nullable(),
  wire: z.instanceof(Buffer).nullable(),
  last_valid_block_height: z.bigint().nullable(),
  paused: z.boolean(),
  /** The database's clock at the reading: what deadlines are held against, whatever a process thinks the time is. */
  read_at: z.number(),
});
export type ClaimedIntent = z.infer<typeof Claimed>;

const columns = sql.fragment`i.intent_id, i.kind, i.object_id, i.request, i.status, i.generation, i.tx_hash, i.slot,
  i.failure_code, i.failure_message, i.traceparent, i.created_at`;
const moment = sql.fragment`(select s.paused from settings s) as paused, app_now() as read_at`;

/** How long nobody's intent rests before the sweeper takes it (rule 16). */
const REST = '15 seconds';

/**
 * Writes an intent in its first generation (or after those that a lost record has had), leased to the worker that got the job. Null: it is known already (a re-drive, a redelivery).
 * One statement and its commit; the message may be acknowledged after.
 */
export const insertIntent = (
  db: Db,
  row: Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'request' | 'traceparent'> & {
    generation?: number;
  },
  workerId: string,
): Promise<ClaimedIntent | null> =>
  db.maybeOne(sql.type(Claimed)`
    insert into intents as i (intent_id, kind, object_id, request, status, generation, traceparent, worker_id, next_at)
    values (${row.intent_id}, ${row.kind}, ${row.object_id}, ${JSON.stringify(row.request)}::jsonb, 'accepted',
      ${row.generation ?? 0}, ${row.traceparent}, ${workerId}, app_now() + ${REST}::interval)
    on conflict (intent_id) do nothing
    returning ${columns}, null as signature, null::bytea as wire, null::bigint as last_valid_block_height, ${moment}`);

/** The intent, or null. */
export const findIntent = (db: Db, intentId: string): Promise<IntentRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from intents i where i.intent_id = ${intentId}`);

/**
 * Leases intents that are nobody's: rested long enough, left by a worker that died, or our own that this process
 * has lost sight of. One SKIP LOCKED statement, so two replicas never take the same.
 * @param driving what this process drives at the moment
 * @param only a single intent that is wanted now, whether it has rested or not
 */
export const claimIntents = (
  db: Db,
  {
    workerId,
    driving,
    limit,
    only = null,
  }: { workerId: string; driving: readonly string[]; limit: number; only?: string | null },
): Promise<readonly ClaimedIntent[]> =>
  db.any(sql.type(Claimed)`
    with free as (
      select c.intent_id from intents c
      where c.status in ('accepted', 'signed', 'confirmed', 'reopened')
        and (${only}::text is null or c.intent_id = ${only})
        and case
          when c.worker_id is null then c.next_at <= app_now() or ${only}::text is not null
          when c.worker_id = ${workerId} then
            c.next_at <= app_now() and c.intent_id <> all(${sql.array(driving, 'text')})
          else not exists (
            select from workers w where w.worker_id = c.worker_id and w.alive_until > app_now())
        end
      order by c.next_at limit ${limit} for update skip locked
    ), i as (
      update intents set worker_id = ${workerId}, next_at = app_now() + ${REST}::interval
      from free where intents.intent_id = free.intent_id returning intents.*
    )
    select ${columns}, t.signature, t.wire, t.last_valid_block_height, ${moment}
    from i left join transactions t on t.intent_id = i.intent_id and t.status = 'live'`);

/** Gives an intent back for a while. */
export const parkIntent = (db: Db, intentId: string, workerId: string, delayMs: number): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update intents set worker_id = null, next_at = app_now() + make_interval(secs => ${delayMs / 1000}::float8)
    where intent_id = ${intentId} and worker_id = ${workerId}`);

/** A step of an intent with the fact that tells it. `generation` is the one the step is about. */
export type Move = {
  intentId: string;
  generation: number;
  txHash?: string;
  slot?: number;
  failure?: Failure;
  message: Outgoing;
  traceparent: string | null;
};

/**
 * Moves intents by one event, each only from a state the event belongs to and only in the generation it is about;
 * what does not move says nothing. State, the transactions and grants that hang on it, and the facts are one
 * statement.
 * @param bytes `failed` when the live bytes are proven dead by their failure on chain
 * @returns outbox rows for `relay.dispatch`, one for each intent that moved
 */
export const moveIntents = (
  db: Db,
  event: Exclude<Event, 'sign'>,
  moves: readonly Move[],
): Promise<readonly OutboxRow[]> => {
  const { from, to } = step(event);
  const rows = moves.map(({ intentId, generation, txHash, slot, failure, message, traceparent }) => ({
    intent_id: intentId,
    generation,
    tx_hash: txHash ?? null,
    slot: slot ?? null,
    failure_code: failure?.code ?? null,
    failure_message: failure?.message ?? null,
    subject: message.subject,
    msg_id: message.msgId,
    payload: message.payload,
    traceparent,
  }));
  return db.any(sql.type(outboxRow)`
    with m as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as m(intent_id text, generation integer,
        tx_hash text, slot bigint, failure_code text, failure_message text, subject text, msg_id text,
        payload jsonb, traceparent text)
    ), moved as (
      update intents i set status = ${to}, tx_hash = coalesce(m.tx_hash, i.tx_hash),
        slot = ${event === 'fork' ? sql.fragment`null` : sql.fragment`coalesce(m.slot, i.slot)`},
        failure_code = m.failure_code, failure_message = m.failure_message, progressed_at = app_now(),
        next_at = app_now() + ${REST}::interval,
        worker_id = ${to === 'failed' || to === 'finalized' ? sql.fragment`null` : sql.fragment`i.worker_id`}
      from m where i.intent_id = m.intent_id and i.generation = m.generation
        and i.status = any(${sql.array(from, 'text')})
      returning i.intent_id, m.slot, m.subject, m.msg_id, m.payload, m.traceparent
    )${effects[event]}
    insert into outbox (subject, msg_id, payload, traceparent)
    select subject, msg_id, payload, traceparent from moved
    returning outbox_id, subject, msg_id, payload, traceparent`);
};

const effects = {
  // A grant is used up by the transaction that really created the account, and given back when it is forked away.
  confirm: sql.fragment`, used as (
    update grants g set used_by = moved.intent_id, used_slot = moved.slot
    from moved join transactions t on t.intent_id = moved.intent_id and t.status = 'live' and t.creates is not null
    where g.owner = t.creates and g.used_by is null)`,
  fork: sql.fragment`, unused as (
    update grants g set used_by = null, used_slot = null from moved where g.used_by = moved.intent_id)`,
  fail: sql.fragment`, dead as (
    update transactions t set status = 'failed' from moved where t.intent_id = moved.intent_id and t.status = 'live')`,
  finalize: sql.fragment``,
};

/** A freshly signed generation. */
export type Generation = {
  signature: string;
  wire: Uint8Array;
  lastValidBlockHeight: number;
  creates: string | null;
  /** Not committed after this moment, epoch milliseconds; null for bytes that are on the chain, or that an owner signed. */
  signBefore: number | null;
};

/**
 * Commits signed bytes as the next generation, before any of them leaves (rule 8).
 * @param move its generation is the new one
 * @returns no row when the intent has moved on meanwhile or its deadline has passed, however long the worker slept
 * since it looked (rule 11): the bytes are then forgotten, unsent
 * @throws a unique violation when another generation lives (rule 9)
 */
export const commitSigned = (db: Db, move: Move, signed: Generation): Promise<readonly OutboxRow[]> => {
  const { from, to } = step('sign');
  return db.any(sql.type(outboxRow)`
    with moved as (
      update intents set status = ${to}, generation = ${move.generation}, tx_hash = ${signed.signature},
        slot = null, progressed_at = app_now(), next_at = app_now() + ${REST}::interval
      where intent_id = ${move.intentId} and generation = ${move.generation - 1}
        and status = any(${sql.array(from, 'text')})
        and (${signed.signBefore}::float8 is null or app_now() <= to_timestamp(${signed.signBefore}::float8 / 1000))
      returning intent_id
    ), written as (
      insert into transactions (signature, intent_id, generation, wire, last_valid_block_height, creates)
      select ${signed.signature}, intent_id, ${move.generation}, ${sql.binary(Buffer.from(signed.wire))},
        ${signed.lastValidBlockHeight}, ${signed.creates} from moved
    )
    insert into outbox (subject, msg_id, payload, traceparent)
    select message.subject, message.msg_id, message.payload, ${move.traceparent}
    from ${outboxValues([move.message])}, moved
    returning outbox_id, subject, msg_id, payload, traceparent`);
};

/**
 * Writes an intent that is over before anything was signed for it, so that a job that comes later meets its end.
 * @returns false when the intent is known, or its object belongs to another one
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
