import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import type { Message } from '../../../../shared/events/event.ts';
import { type OutboxRow, outboxColumn, outboxRow } from '../../../../shared/events/outbox.ts';
import { transactions } from '../../transactions/model.ts';
import type { Failure } from '../model/failure.ts';
import { type Event, intents } from '../model/state.ts';

const Row = z.object({
  intent_id: z.string(),
  kind: z.enum(['settle', 'fund', 'createTokenAccount', 'delegation', 'withdrawal', 'refund']),
  object_id: z.string(),
  request: z.unknown(),
  status: z.enum(intents.states),
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

const state = stateColumn(intents, sql.fragment`i.status`);
const liveness = stateColumn(transactions, sql.fragment`t.status`);

const columns = sql.fragment`i.intent_id, i.kind, i.object_id, i.request, i.status, i.generation, i.tx_hash, i.slot,
  i.failure_code, i.failure_message, i.traceparent, i.created_at`;
const moment = sql.fragment`(select s.paused from settings s) as paused, app_now() as read_at`;

/** How long nobody's intent rests before the sweeper takes it (rule 16). */
const LEASE_GRACE = '15 seconds';

/** An intent before it is written. `generation`: those that a lost record has had. */
export type NewIntent = Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'request' | 'traceparent'> & {
  generation?: number;
};
const Inserted = Claimed.pick({ intent_id: true, created_at: true, paused: true, read_at: true });

/**
 * Writes intents, leased to the worker that got their jobs. One statement and its commit; the messages may be
 * acknowledged after.
 * @returns in their order; null: it is known already (a re-drive, a redelivery)
 */
export const insertIntents = async (
  db: Db,
  rows: readonly NewIntent[],
  workerId: string,
): Promise<(ClaimedIntent | null)[]> => {
  const values = rows.map(({ generation = 0, ...row }) => ({ ...row, generation }));
  // In the order of their ids, so that two workers with the same jobs wait for each other in one direction.
  const inserted = await db.any(sql.type(Inserted)`
    insert into intents as i (intent_id, kind, object_id, request, status, generation, traceparent, worker_id, next_at)
    select v.intent_id, v.kind, v.object_id, v.request, 'accepted', v.generation, v.traceparent, ${workerId},
      app_now() + ${LEASE_GRACE}::interval
    from jsonb_to_recordset(${JSON.stringify(values)}::jsonb) as v(intent_id text, kind text, object_id text,
      request jsonb, generation integer, traceparent text)
    order by v.intent_id
    on conflict (intent_id) do nothing
    returning i.intent_id, i.created_at, ${moment}`);
  const writtenAs = new Map(inserted.map((row) => [row.intent_id, row]));
  return values.map((row) => {
    const written = writtenAs.get(row.intent_id);
    return written === undefined ? null : { ...row, ...NOTHING_YET, ...written };
  });
};

const NOTHING_YET = {
  status: 'accepted',
  tx_hash: null,
  slot: null,
  failure_code: null,
  failure_message: null,
  signature: null,
  wire: null,
  last_valid_block_height: null,
} as const;

/** The intent, or null. */
export const findIntent = (db: Db, intentId: string): Promise<IntentRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from intents i where i.intent_id = ${intentId}`);

/** Whether another attempt to pay the same quote has failed: what was said of it then is checked at every provider. */
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
 * Leases intents that are nobody's: rested long enough, left by a worker that died, or our own that this process
 * has lost sight of. One SKIP LOCKED statement, so two replicas never take the same.
 * @param driving what this process drives at the moment
 * @param only a single intent that is wanted now, whether it has rested or not
 */
export const claimIntents = (
  db: Db,
  {
    workerId,
    executing,
    limit,
    only = null,
  }: { workerId: string; executing: readonly string[]; limit: number; only?: string | null },
): Promise<readonly ClaimedIntent[]> =>
  db.any(sql.type(Claimed)`
    with free as (
      select c.intent_id from intents c
      where ${isOpen}
        and (${only}::text is null or c.intent_id = ${only})
        and case
          when c.worker_id is null then c.next_at <= app_now() or ${only}::text is not null
          when c.worker_id = ${workerId} then
            c.next_at <= app_now() and c.intent_id <> all(${sql.array(executing, 'text')})
          else not exists (
            select from workers w where w.worker_id = c.worker_id and w.alive_until > app_now())
        end
      order by c.next_at limit ${limit} for update skip locked
    ), i as (
      update intents set worker_id = ${workerId}, next_at = app_now() + ${LEASE_GRACE}::interval
      from free where intents.intent_id = free.intent_id returning intents.*
    )
    select ${columns}, t.signature, t.wire, t.last_valid_block_height, ${moment}
    from i left join transactions t on t.intent_id = i.intent_id and ${liveness.is('live')}`);

/** Gives an intent back for a while. */
export const releaseIntent = (db: Db, intentId: string, workerId: string, delayMs: number): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update intents set worker_id = null, next_at = app_now() + make_interval(secs => ${delayMs / 1000}::float8)
    where intent_id = ${intentId} and worker_id = ${workerId}`);

/** A transition of an intent with the event that tells it. `generation` is the one it is about. */
export type Transition = {
  intentId: string;
  generation: number;
  txHash?: string;
  slot?: number;
  failure?: Failure;
  message: Message;
  traceparent: string | null;
};

/**
 * The transitions of intents by one event, each only from a state the event belongs to and only in
 * the generation it is about; what does not change says nothing. State, the transactions and grants
 * that hang on it, and the events are one statement. Rows are named by an array besides: it goes by
 * the index, in its order, whatever the planner believes of the size of a JSON parameter.
 * @param bytes `failed` when the live bytes are proven dead by their failure on chain
 * @returns outbox rows for `relay.dispatch`, one for each intent that changed
 */
export const transitionIntents = (
  db: Db,
  event: Exclude<Event, 'sign'>,
  transitions: readonly Transition[],
): Promise<readonly OutboxRow[]> => {
  const rows = transitions.map(({ intentId, generation, txHash, slot, failure, message, traceparent }) => ({
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
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given(intent_id text, generation integer,
        tx_hash text, slot bigint, failure_code text, failure_message text, subject text, msg_id text,
        payload jsonb, traceparent text)
    ), changed as (
      update intents i set status = ${state.after(event)}, tx_hash = coalesce(given.tx_hash, i.tx_hash),
        slot = ${event === 'fork' ? sql.fragment`null` : sql.fragment`coalesce(given.slot, i.slot)`},
        failure_code = given.failure_code, failure_message = given.failure_message, progressed_at = app_now(),
        next_at = app_now() + ${LEASE_GRACE}::interval,
        worker_id = ${intents.isTerminal(intents.to(event)) ? sql.fragment`null` : sql.fragment`i.worker_id`}
      from given where i.intent_id = any(array(select intent_id from given)) and i.intent_id = given.intent_id
        and i.generation = given.generation and ${state.allows(event)}
      returning i.intent_id, given.slot, given.subject, given.msg_id, given.payload, given.traceparent
    )${effects[event]}
    insert into outbox (subject, msg_id, payload, traceparent)
    select subject, msg_id, payload, traceparent from changed
    returning outbox_id, subject, msg_id, payload, traceparent`);
};

const effects = {
  // A grant is used up by the transaction that really created the account, and given back when it is forked away.
  confirm: sql.fragment`, used as (
    update grants g set used_by = changed.intent_id, used_slot = changed.slot,
      -- Spent: it is not released when the promise lapses.
      reserved_lamports = case when g.reserved_by = changed.intent_id then null else g.reserved_lamports end
    from changed
    join transactions t on t.intent_id = changed.intent_id and ${liveness.is('live')} and t.creates is not null
    where t.intent_id = any(array(select intent_id from changed)) and g.owner = t.creates and g.used_by is null)`,
  fork: sql.fragment`, unused as (
    update grants g set used_by = null, used_slot = null from changed where g.used_by = changed.intent_id)`,
  fail: sql.fragment`, dead as (
    update transactions t set status = ${liveness.after('fail')} from changed
    where t.intent_id = any(array(select intent_id from changed)) and t.intent_id = changed.intent_id
      and ${liveness.isFrom('fail')})`,
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

/** An amount of a scope's budget, of the day that begins at `startsAt` (epoch milliseconds). */
export type SpendingClaim = { scope: string; startsAt: number; amount: bigint; cap: bigint };

/** Signed bytes as the next generation of an intent. `message` null: nobody waits for it. */
export type SignedTransition = Pick<Transition, 'intentId' | 'generation' | 'traceparent'> & {
  message: Message | null;
  signed: Generation;
  /** Reserved of a daily budget with the bytes; null: nothing, or it is reserved otherwise. */
  claim: SpendingClaim | null;
};
const Committed = z.object({
  changed_id: z.string(),
  told: outboxColumn.nullable(),
  over_budget: z.boolean().default(false),
});
/** What became of signed bytes: outbox rows for `relay.dispatch`, or why they were not committed. */
export type CommitOutcome = readonly OutboxRow[] | 'overtaken' | 'over_budget';

/** Reserves what moves claim, each scope's as a whole. Most commits claim nothing, so it is left out of theirs. */
const CLAIMS = {
  claimed: sql.fragment`, claims as (
      select scope, period, sum(lamports)::bigint as lamports, min(cap) as cap
      from s where scope is not null group by scope, period
    ), reserved as (
      insert into spending as b (scope, period, taken)
      select scope, period, lamports from claims where lamports <= cap order by scope, period
      on conflict (scope, period) do update set taken = b.taken + excluded.taken
        where b.taken + excluded.taken <= (
          select cap from claims where claims.scope = excluded.scope and claims.period = excluded.period)
      returning scope, period
    ), over as (
      select intent_id from s where scope is not null and (scope, period) not in (select scope, period from reserved)
    )`,
  within: sql.fragment`and s.intent_id not in (select intent_id from over)`,
  refused: sql.fragment`union all select intent_id, null, true from over`,
};
const NO_CLAIMS = { claimed: sql.fragment``, within: sql.fragment``, refused: sql.fragment`` };

/**
 * Commits signed bytes as the next generations of their intents, before any of them leaves (rule 8).
 * @param transitions of different intents; their generation is the new one
 * @returns in their order: outbox rows for `relay.dispatch`; `overtaken` when the intent has
 * changed meanwhile or its deadline has passed, however long the worker slept since it looked (rule
 * 11); `over_budget` when what they claim of a budget together is more than what is left. The bytes
 * are then forgotten, unsent
 * @throws a unique violation when another generation of one of them lives (rule 9)
 */
export const commitSigned = async (
  db: Db,
  transitions: readonly SignedTransition[],
): Promise<CommitOutcome[]> => {
  const rows = transitions.map(({ intentId, generation, traceparent, message, signed, claim }) => ({
    intent_id: intentId,
    generation,
    signature: signed.signature,
    wire: Buffer.from(signed.wire).toString('base64'),
    last_valid: signed.lastValidBlockHeight,
    creates: signed.creates,
    sign_before: signed.signBefore,
    subject: message?.subject ?? null,
    msg_id: message?.msgId ?? null,
    payload: message?.payload ?? null,
    traceparent,
    ...(claim !== null && {
      scope: claim.scope,
      period: new Date(claim.startsAt),
      lamports: String(claim.amount),
      cap: String(claim.cap),
    }),
  }));
  const { claimed, within, refused } = transitions.some(({ claim }) => claim !== null) ? CLAIMS : NO_CLAIMS;
  // Locked in the order of the index (see transitionIntents), so that two workers wait for each
  // other in one direction.
  const committed = await db.any(sql.type(Committed)`
    with s as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as s(intent_id text, generation integer,
        signature text, wire text, last_valid bigint, creates text, sign_before float8, subject text, msg_id text,
        payload jsonb, traceparent text, scope text, period timestamptz, lamports bigint, cap bigint)
    )${claimed}, changed as (
      update intents i set status = ${state.after('sign')}, generation = s.generation, tx_hash = s.signature,
        slot = null, progressed_at = app_now(), next_at = app_now() + ${LEASE_GRACE}::interval
      from s where i.intent_id = any(array(select intent_id from s)) and i.intent_id = s.intent_id
        and i.generation = s.generation - 1
        and ${state.allows('sign')}
        and (s.sign_before is null or app_now() <= to_timestamp(s.sign_before / 1000))
        ${within}
      returning s.*
    ), written as (
      insert into transactions (signature, intent_id, generation, wire, last_valid_block_height, creates)
      select signature, intent_id, generation, decode(wire, 'base64'), last_valid, creates from changed
    ), told as (
      insert into outbox (subject, msg_id, payload, traceparent)
      select subject, msg_id, payload, traceparent from changed where msg_id is not null
      returning outbox_id, subject, msg_id, payload, traceparent
    )
    select changed.intent_id as changed_id,
      (select jsonb_agg(to_jsonb(told)) from told where told.msg_id = changed.msg_id) as told, false as over_budget
    from changed ${refused}`);
  const outcomeOf = new Map<string, CommitOutcome>(
    committed.map(({ changed_id, told, over_budget }) => [
      changed_id,
      over_budget ? 'over_budget' : (told ?? []),
    ]),
  );
  return transitions.map(({ intentId }) => outcomeOf.get(intentId) ?? 'overtaken');
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
