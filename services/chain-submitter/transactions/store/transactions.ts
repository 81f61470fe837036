import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { intents } from '../../intents/model/state.ts';
import { transactions } from '../model.ts';

const intentState = stateColumn(intents, sql.fragment`i.status`);
const state = stateColumn(transactions, sql.fragment`t.status`);

/** Whether these bytes were committed: asked when the answer to a commit was lost. */
export const isCommitted = (db: Db, signature: string): Promise<boolean> =>
  db.oneFirst(
    sql.type(z.object({ there: z.boolean() }))`
      select exists (select from transactions where signature = ${signature} and status = 'live') as there`,
  );

/**
 * Marks a generation as proven dead by its expiry (rule 11). True when it was this call that did. The bytes of an intent
 * that another worker has confirmed meanwhile stay: only a fork takes them back (broadcast/poller.ts).
 */
export const expireTransaction = async (db: Db, signature: string): Promise<boolean> => {
  const row = await db.maybeOne(sql.type(z.object({ signature: z.string() }))`
    with open as (
      select i.intent_id from intents i join transactions t using (intent_id)
      where t.signature = ${signature} and ${intentState.allows('sign')} for update of i
    )
    update transactions t set status = ${state.after('expire')} from open
    where t.signature = ${signature} and t.intent_id = open.intent_id and ${state.allows('expire')} returning t.signature`);
  return row !== null;
};

/** The intents that signed these transactions, by signature; none for those that this database does not know. */
export const findIntentIds = async (db: Db, signatures: readonly string[]): Promise<Map<string, string>> => {
  const rows = await db.any(sql.type(z.object({ signature: z.string(), intent_id: z.string() }))`
    select signature, intent_id from transactions where signature = any(${sql.array(signatures, 'text')})`);
  return new Map(rows.map(({ signature, intent_id }) => [signature, intent_id]));
};

const Revived = z.object({ wire: z.instanceof(Buffer), last_valid_block_height: z.bigint() });

/**
 * Makes a generation of an intent live again that was taken for dead and is on the chain: no other is signed.
 * @returns its bytes, or null when the intent has changed meanwhile
 * @throws a unique violation when another generation of it lives (rule 9)
 */
export const reviveTransaction = (
  db: Db,
  { intent_id, generation }: { intent_id: string; generation: number },
  signature: string,
): Promise<z.infer<typeof Revived> | null> =>
  db.maybeOne(sql.type(Revived)`
    with revived as (
      update intents i set status = ${intentState.after('sign')}, tx_hash = ${signature}, slot = null, progressed_at = app_now()
      from transactions t
      where i.intent_id = ${intent_id} and i.generation = ${generation}
        and ${intentState.allows('sign')}
        and t.intent_id = i.intent_id and t.signature = ${signature} and ${state.allows('revive')}
      returning t.signature
    )
    update transactions t set status = ${state.after('revive')} from revived where t.signature = revived.signature
    returning t.wire, t.last_valid_block_height`);

const Signed = z.object({
  signature: z.string(),
  generation: z.number(),
  status: z.enum(transactions.states),
  last_valid_block_height: z.bigint().transform(Number),
});
export type SignedRow = z.infer<typeof Signed>;

/** Every transaction that was ever signed for an intent, the first first. */
export const listTransactions = (db: Db, intentId: string): Promise<readonly SignedRow[]> =>
  db.any(sql.type(Signed)`
    select signature, generation, status, last_valid_block_height
    from transactions where intent_id = ${intentId} order by generation`);
