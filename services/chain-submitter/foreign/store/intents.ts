import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { intents } from '../../intents/model/state.ts';

const state = stateColumn(intents, sql.fragment`i.status`);
/** The predicate of the index intents_foreign_by_source. */
const isPaying = sql.fragment`i.kind = 'foreign' and ${state.is(
  ...intents.states.filter((status) => status !== 'failed'),
)}`;

/** Payments of one source are committed one after the other until the transaction ends. */
export const lockSource = (tx: Db, source: string): Promise<unknown> =>
  tx.query(sql.type(z.unknown())`
    select pg_advisory_xact_lock(hashtextextended('foreign/' || ${source}, 0))`);

/**
 * The micro-units of a source's payments that may still be taken from a balance.
 * @param slot of the balance
 * @param except signatures of payments that the balance contains, although that is not recorded yet
 */
export const sumHeldMicro = (
  db: Db,
  source: string,
  { slot, except }: { slot: number; except: readonly string[] },
): Promise<bigint> =>
  db.oneFirst(sql.type(z.object({ held: z.bigint() }))`
    select coalesce(sum((i.request ->> 'amount')::bigint), 0)::bigint as held
    from intents i where ${isPaying} and i.request ->> 'source_account' = ${source}
      and (i.slot is null or i.slot > ${slot})
      and (i.signature is null or i.signature <> all(${sql.array([...except], 'text')}))`);

/**
 * How many of a source's transactions failed on chain in the last day. Our fee payer has paid for
 * them. Expired ones were never included, and cost nothing.
 */
export const countFailedOnChain = (db: Db, source: string): Promise<bigint> =>
  db.oneFirst(sql.type(z.object({ failed: z.bigint() }))`
    select count(*) as failed from intents i join transactions t using (intent_id)
    where i.kind = 'foreign' and ${state.is('failed')} and i.signature is not null
      and i.request ->> 'source_account' = ${source} and i.created_at > app_now() - interval '1 day'
      and t.status = 'failed'`);

/** The signatures of a source's payments whose slot is not recorded. */
export const listUnconfirmedSignatures = (db: Db, source: string): Promise<readonly string[]> =>
  db.anyFirst(sql.type(z.object({ signature: z.string() }))`
    select i.signature from intents i where ${isPaying} and i.request ->> 'source_account' = ${source}
      and i.slot is null and i.signature is not null`);
