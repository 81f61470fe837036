import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import type { Message } from '../../../../shared/events/event.ts';
import { insertMessages, type OutboxRow, outboxColumn } from '../../../../shared/events/outbox.ts';
import { intents } from '../model/state.ts';
import { FRESH_MS, type IntentRow, SWEEP_AFTER } from './intents.ts';
import { isStoppedNow } from './settings.ts';
import { NO_SPENDING_CLAIMS, SPENDING_CLAIMS, type SpendingClaim } from './spending.ts';
import { insertTransactions } from './transactions.ts';

const state = stateColumn(intents, sql.fragment`i.status`);

/** The signed or adopted bytes of an intent. */
export type Bytes = {
  generation: number;
  signature: string;
  /** Empty for an adopted transaction, which needs no sending. */
  wire: Uint8Array;
  lastValidBlockHeight: number;
};

/** Bytes with what is committed beside them. */
export type Generation = Bytes & {
  /** Owner of the token account that they create. */
  creates: string | null;
  /**
   * The signing deadline, epoch milliseconds; null for adopted bytes and for bytes that an owner
   * signed.
   */
  signBefore: number | null;
};

/** Signed bytes as the next generation of an intent. `message` null: no event is published. */
export type SignedTransition = {
  intent: Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'request' | 'traceparent'>;
  /** Whether the intent is recorded with its bytes. */
  isNew: boolean;
  signed: Generation;
  message: Message | null;
  /**
   * Reserved of a daily budget by the statement that commits the bytes; null: nothing, or reserved
   * separately.
   */
  claim: SpendingClaim | null;
};
const Committed = z.object({
  changed_id: z.string(),
  published: outboxColumn.nullable(),
  over_budget: z.boolean().default(false),
});
/** Outbox rows for `relay.dispatch`, or why the signed bytes were not committed. */
export type CommitOutcome = readonly OutboxRow[] | 'overtaken' | 'over_budget';

/**
 * Bytes that the platform signs alone have a deadline, and are not signed during the operator's
 * pause, nor on a database that may be a restored copy.
 */
const maySign = sql.fragment`(s.sign_before is null or
        (app_now() <= to_timestamp(s.sign_before / 1000) and not (select ${isStoppedNow} from settings)))`;

/**
 * Whether an intent may be recorded with bytes that the platform has signed. If its job is older,
 * an earlier record may be lost, and only the executor's search of all providers may lead to bytes.
 */
const isFresh = sql.fragment`(s.sign_before is null or
        abs(extract(epoch from app_now() - (s.request ->> 'accepted_at')::timestamptz)) <= ${FRESH_MS / 1000}::float8)`;

/**
 * Commits signed bytes as the next generations of their intents, before any of them is sent (rule
 * 8). This is the only commit of a payment whose intent is recorded with its bytes.
 * @param transitions of different intents, each with its new generation
 * @param workerId leases the intents that are recorded here
 * @returns in the order of the transitions: outbox rows for `relay.dispatch`; `overtaken` when the
 *   intent has changed, exists although it is to be recorded, is paused, or its deadline has
 *   passed, however long the worker slept after its check (rule 11); `over_budget` when the claims
 *   on one budget exceed what is left of it. Bytes that are not committed are discarded unsent
 * @throws a unique violation when another generation of one of them is live (rule 9)
 */
export const commitSigned = async (
  db: Db,
  transitions: readonly SignedTransition[],
  workerId: string,
): Promise<CommitOutcome[]> => {
  const rows = transitions.map(toSignedRow);
  const isClaiming = transitions.some(({ claim }) => claim !== null);
  const { claimed, within, refused } = isClaiming ? SPENDING_CLAIMS : NO_SPENDING_CLAIMS;
  // The rows are locked in the order of the index (see transitionIntents), so that two workers
  // cannot deadlock.
  const committed = await db.any(sql.type(Committed)`
    with s as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as s(intent_id text, generation integer,
        signature text, wire text, last_valid bigint, creates text, sign_before float8, subject text, msg_id text,
        payload jsonb, traceparent text, scope text, period timestamptz, lamports bigint, cap bigint,
        kind text, object_id text, request jsonb)
    )${claimed}, recorded as (
      insert into intents as i (intent_id, kind, object_id, request, status, generation, signature, traceparent,
        worker_id, progressed_at, next_at)
      select s.intent_id, s.kind, s.object_id, s.request, ${state.after('sign')}, s.generation, s.signature,
        s.traceparent, ${workerId}, app_now(), app_now() + ${SWEEP_AFTER}::interval
      from s where s.kind is not null and ${maySign} and ${isFresh} ${within}
      order by s.intent_id
      on conflict (intent_id) do nothing
      returning i.intent_id
    ), updated as (
      update intents i set status = ${state.after('sign')}, generation = s.generation, signature = s.signature,
        slot = null, progressed_at = app_now(), next_at = app_now() + ${SWEEP_AFTER}::interval
      from s where i.intent_id = any(array(select intent_id from s where kind is null))
        and i.intent_id = s.intent_id and i.generation = s.generation - 1
        and ${state.allows('sign')} and ${maySign} ${within}
      returning s.*
    ), changed as (
      select * from updated union all select s.* from s join recorded using (intent_id)
    )${insertTransactions}, published as (
      ${insertMessages(sql.fragment`select subject, msg_id, payload, traceparent from changed where msg_id is not null`)}
    )
    select changed.intent_id as changed_id,
      (select jsonb_agg(to_jsonb(published)) from published where published.msg_id = changed.msg_id) as published,
      false as over_budget
    from changed ${refused}`);
  const outcomes = new Map<string, CommitOutcome>(
    committed.map(({ changed_id, published, over_budget }) => [
      changed_id,
      over_budget ? 'over_budget' : (published ?? []),
    ]),
  );
  return transitions.map(({ intent }) => outcomes.get(intent.intent_id) ?? 'overtaken');
};

const toSignedRow = ({ intent, isNew, signed, message, claim }: SignedTransition) => ({
  intent_id: intent.intent_id,
  generation: signed.generation,
  signature: signed.signature,
  wire: Buffer.from(signed.wire).toString('base64'),
  last_valid: signed.lastValidBlockHeight,
  creates: signed.creates,
  sign_before: signed.signBefore,
  subject: message?.subject ?? null,
  msg_id: message?.msgId ?? null,
  payload: message?.payload ?? null,
  traceparent: intent.traceparent,
  ...(claim !== null && {
    scope: claim.scope,
    period: new Date(claim.startsAt),
    lamports: String(claim.amount),
    cap: String(claim.cap),
  }),
  ...(isNew && { kind: intent.kind, object_id: intent.object_id, request: intent.request }),
});
