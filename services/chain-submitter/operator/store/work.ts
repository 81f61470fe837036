import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { INTENT_KINDS, INTENT_STATES } from '../../../../shared/lib/metrics-catalog.ts';
import { intents } from '../../intents/model/state.ts';

const state = stateColumn(intents);
const joined = stateColumn(intents, sql.fragment`i.status`);

const OpenWork = z.object({
  kind: z.enum(INTENT_KINDS),
  status: z.enum(INTENT_STATES),
  intents: z.bigint(),
  /** Seconds. */
  oldest_age: z.number(),
});

/** Intents that are not terminal, by kind and state: over the sweeper's partial index, so over open rows alone. */
export const countOpenByState = (db: Db): Promise<readonly z.infer<typeof OpenWork>[]> =>
  db.any(sql.type(OpenWork)`
    select kind, status, count(*) as intents, extract(epoch from app_now() - min(created_at))::float8 as oldest_age
    from intents where ${state.isOpen}
    group by kind, status`);

/** How many of them there are. */
export const countOpenIntents = (db: Db): Promise<bigint> =>
  db.oneFirst(sql.type(z.object({ intents: z.bigint() }))`
    select count(*) as intents from intents where ${state.isOpen}`);

const Bytes = z.object({ bytes: z.instanceof(Buffer) });

/** Transactions that may still land, of work that is open. Those that were found on the chain have no bytes here. */
export const listLiveTransactions = (db: Db): Promise<readonly Buffer[]> =>
  db.anyFirst(sql.type(Bytes)`
    select t.wire as bytes from intents i join transactions t using (intent_id)
    where ${joined.isOpen} and t.status = 'live' and length(t.wire) > 0`);

/** Messages that wait for their owner's signature, as long as they can be submitted. */
export const listOpenMessages = (db: Db): Promise<readonly Buffer[]> =>
  db.anyFirst(sql.type(Bytes)`
    select message as bytes from preparations where status = 'open' and expires_at > app_now()`);

/** What is reserved in the running day, by scope. */
export const sumReserved = async (
  db: Db,
  scopes: readonly string[],
): Promise<ReadonlyMap<string, bigint>> => {
  const rows = await db.any(sql.type(z.object({ scope: z.string(), taken: z.bigint() }))`
    select scope, taken from spending
    where scope = any(${sql.array([...scopes], 'text')}) and period = date_trunc('day', app_now(), 'UTC')`);
  return new Map(rows.map(({ scope, taken }) => [scope, taken]));
};
