import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { intents } from '../../ledger/model/state.ts';
import { failuresOfVendor } from '../../ledger/store/incoming-failures.ts';
import { isStoppedNow } from '../../ledger/store/settings.ts';

const state = stateColumn(intents, sql.fragment`i.status`);
/** The predicate of the index intents_incoming_by_source. */
export const isPaying = sql.fragment`i.kind = 'incoming' and ${state.is(
  ...intents.states.filter((status) => status !== 'failed'),
)}`;

/**
 * Payments of one source, and those of MPP to one vendor account, are committed one after the other
 * until the transaction ends. The locks are taken in one order, so that two replicas cannot
 * deadlock.
 * @param names of sources and accounts
 */
export const lockPayments = (tx: Db, names: readonly string[]): Promise<unknown> =>
  tx.query(sql.type(z.unknown())`
    select pg_advisory_xact_lock(key) from (
      select distinct hashtextextended('incoming/' || name, 0) as key
      from unnest(${sql.array([...names], 'text')}) as name order by key
    ) as keys`);

/**
 * An account that empties itself between simulation and inclusion makes our fee payer pay for a
 * failed transaction. After so many in a day its payments are refused.
 */
export const MAX_FAILED = 3n;

/**
 * How many of a source's transactions failed on chain in the last day. Our fee payer has paid for
 * them. Expired ones were never included, and cost nothing.
 */
const failedOf = (source: ReturnType<typeof sql.fragment>) => sql.fragment`
  select count(*) as failed from intents i join transactions t using (intent_id)
  where i.kind = 'incoming' and ${state.is('failed')} and i.signature is not null
    and i.request ->> 'source_account' = ${source} and i.created_at > app_now() - interval '1 day'
    and t.status = 'failed'`;

/**
 * A question about the payments of a source that may still be taken from a balance.
 * `slot`: of the balance. `contains`: signatures of payments that the balance contains, although
 * that is not recorded yet. `intentId`: the payment that asks, which does not count. `asking`: how
 * many payments of the source ask together. `alone`: the source may have one payment under way, and
 * none that failed. `last`: the buyer signs last. Whoever names an account can ask for such a
 * payment, so until it is on chain it counts for others of its kind only.
 */
type HeldQuery = {
  intentId: string;
  source: string;
  slot: number;
  contains: readonly string[];
  asking: number;
  alone: boolean;
  last: boolean;
};

/** The buyer signs last. */
const signsLast = sql.fragment`jsonb_exists(i.request, 'signs_last')`;

const Held = z.object({ held: z.bigint(), spare: z.bigint(), exists: z.boolean() });
export type Held = z.infer<typeof Held>;

/**
 * What the payments of sources may use, in the order of the queries. `held`: micro-units that are
 * held. `spare`: how many more payments may be under way. All of them may fail on chain in one
 * moment, so a source may have as many as it may have failures, and one more for each that it has
 * paid. `exists`: the payment exists.
 */
export const listHeld = (db: Db, queries: readonly HeldQuery[]): Promise<readonly Held[]> =>
  db.any(sql.type(Held)`
    select exists (select from intents i where i.intent_id = q."intentId") as exists,
      case when bad.failed >= ${MAX_FAILED} then 0
        when q.alone then case when bad.failed + under_way.payments = 0 then 1 else 0 end
        when bad.failed + under_way.payments + q.asking <= ${MAX_FAILED} then q.asking
        -- So many are enough, and a source may have paid a million.
        else ${MAX_FAILED} - bad.failed - under_way.payments + (select count(*) from (
          select from intents i
          where ${isPaying} and i.request ->> 'source_account' = q.source and i.slot is not null
          limit bad.failed + under_way.payments + q.asking
        ) as paid)
      end as spare, (
      select coalesce(sum((i.request ->> 'amount')::bigint), 0)::bigint
      from (
        select intent_id, signature, request from intents i
        where ${isPaying} and i.request ->> 'source_account' = q.source and i.slot is null and not ${signsLast}
        union all
        select intent_id, signature, request from intents i
        where ${isPaying} and i.request ->> 'source_account' = q.source and i.slot > q.slot
      ) as i
      where i.intent_id <> q."intentId"
        and (i.signature is null or not jsonb_exists(q.contains, i.signature))
    ) as held
    from jsonb_to_recordset(${JSON.stringify(queries.map((query, position) => ({ ...query, position })))}::jsonb)
      as q(position integer, "intentId" text, source text, slot bigint, contains jsonb, asking bigint,
        alone boolean, last boolean)
    cross join lateral (${failedOf(sql.fragment`q.source`)}) as bad
    cross join lateral (
      select count(*) as payments from intents i
      where ${isPaying} and i.request ->> 'source_account' = q.source and i.slot is null
        and i.intent_id <> q."intentId" and (q.last or not ${signsLast})
    ) as under_way
    order by q.position`);

/** Whether a source may have one more payment under way. */
export const hasRoom = async (
  db: Db,
  payment: Pick<HeldQuery, 'intentId' | 'source' | 'alone' | 'last'>,
): Promise<boolean> =>
  (await listHeld(db, [{ ...payment, slot: 0, contains: [], asking: 1 }]))[0]!.spare > 0n;

/** Whether a payment of the source was ever confirmed. */
export const hasPaid = (db: Db, source: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ paid: z.boolean() }))`
    select exists (select from intents i
      where ${isPaying} and i.request ->> 'source_account' = ${source} and i.slot is not null) as paid`);

const Failures = z.object({ paused: z.boolean(), of_source: z.bigint(), of_vendor: z.bigint() });
type Failures = z.infer<typeof Failures>;

/**
 * Whether the operator has paused all signing, and how many payments failed on the chain: of a
 * source in the last day (`failedOf`), and to a vendor account in this UTC day. In the order of the
 * queries.
 */
export const listFailures = (
  db: Db,
  queries: readonly { source: string; vendor: string }[],
): Promise<readonly Failures[]> =>
  db.any(sql.type(Failures)`
    select (select ${isStoppedNow} from settings) as paused, (${failedOf(sql.fragment`q.source`)}) as of_source,
      coalesce((${failuresOfVendor(sql.fragment`q.vendor`)}), 0)::bigint as of_vendor
    from unnest(${sql.array(
      queries.map(({ source }) => source),
      'text',
    )}, ${sql.array(
      queries.map(({ vendor }) => vendor),
      'text',
    )}) with ordinality as q(source, vendor, position)
    order by q.position`);

/** The signatures of a source's payments whose slot is not recorded. */
export const listUnconfirmedSignatures = (db: Db, source: string): Promise<readonly string[]> =>
  db.anyFirst(sql.type(z.object({ signature: z.string() }))`
    select i.signature from intents i where ${isPaying} and i.request ->> 'source_account' = ${source}
      and i.slot is null and i.signature is not null`);
