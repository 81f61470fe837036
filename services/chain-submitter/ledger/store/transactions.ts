import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { intents } from '../model/state.ts';
import { transactions } from '../model/transaction.ts';

const state = stateColumn(transactions, sql.fragment`t.status`);
const intentState = stateColumn(intents, sql.fragment`i.status`);

/**
 * Parts of the statements of `./intents.ts`, in which the intents' states change with
 * their transactions.
 */
export const isLive = state.is('live');
export const isExpired = state.is('expired');
export const isRevivable = state.allows('revive');
/** Inserts the bytes of the rows of `changed`. */
export const insertTransactions = sql.fragment`, written as (
      insert into transactions (signature, intent_id, generation, wire, last_valid_block_height, creates)
      select signature, intent_id, generation, decode(wire, 'base64'), last_valid, creates from changed
    )`;
/** Marks the live bytes of the intents of `changed` as failed on chain. */
export const failTransactions = sql.fragment`, failed as (
    update transactions t set status = ${state.after('fail')} from changed
    where t.intent_id = any(array(select intent_id from changed)) and t.intent_id = changed.intent_id
      and ${state.isFrom('fail')})`;
/**
 * Removes the bytes of the intents of `changed`, which are final: no fork removes their payment, so
 * nothing of them is sent again. The one that is on the chain gets its cost.
 */
export const emptyTransactions = sql.fragment`, emptied as (
    update transactions t set wire = '',
      fee_lamports = case when t.signature = changed.signature then changed.fee_lamports end,
      rent_lamports = case when t.signature = changed.signature then changed.rent_lamports end
    from changed
    where t.intent_id = any(array(select intent_id from changed)) and t.intent_id = changed.intent_id)`;
/** Makes the transactions of `revived` live again. */
export const reviveTransactions = sql.fragment`
    update transactions t set status = ${state.after('revive')} from revived
    where t.signature = revived.signature and t.intent_id = revived.intent_id`;

/** Whether these bytes are committed. It is read when the answer to a commit was lost. */
export const isCommitted = (
  db: Db,
  { intentId, signature }: { intentId: string; signature: string },
): Promise<boolean> =>
  db.oneFirst(
    sql.type(z.object({ is_committed: z.boolean() }))`
      select exists (select from transactions where signature = ${signature} and intent_id = ${intentId}
        and status = 'live') as is_committed`,
  );

/**
 * Marks a generation as expired, after the proof (rule 11). The bytes of an intent that another
 * worker has confirmed meanwhile stay live: only a fork reopens such an intent (broadcast/fork.ts).
 * @returns true when this call marked it
 */
export const expireTransaction = async (
  db: Db,
  { intentId, signature }: { intentId: string; signature: string },
): Promise<boolean> => {
  const row = await db.maybeOne(sql.type(z.object({ signature: z.string() }))`
    with open as (
      select i.intent_id from intents i join transactions t using (intent_id)
      where t.signature = ${signature} and t.intent_id = ${intentId} and ${intentState.allows('sign')}
      for update of i
    )
    update transactions t set status = ${state.after('expire')} from open
    where t.signature = ${signature} and t.intent_id = open.intent_id and ${state.allows('expire')} returning t.signature`);
  return row !== null;
};

/**
 * The intents that signed these transactions, by signature; none for a transaction without a record
 * here.
 */
export const findIntentIds = async (db: Db, signatures: readonly string[]): Promise<Map<string, string>> => {
  const rows = await db.any(sql.type(z.object({ signature: z.string(), intent_id: z.string() }))`
    select signature, intent_id from transactions where signature = any(${sql.array(signatures, 'text')})`);
  return new Map(rows.map(({ signature, intent_id }) => [signature, intent_id]));
};

const Signed = z.object({
  signature: z.string(),
  generation: z.number(),
  status: z.enum(transactions.states),
  wire: z.instanceof(Buffer),
  last_valid_block_height: z.bigint().transform(Number),
});
export type SignedRow = z.infer<typeof Signed>;

/** Every transaction that was signed or adopted for an intent, oldest first. */
export const listTransactions = (db: Db, intentId: string): Promise<readonly SignedRow[]> =>
  db.any(sql.type(Signed)`
    select signature, generation, status, wire, last_valid_block_height
    from transactions where intent_id = ${intentId} order by generation`);

/** The bytes of live transactions of open intents. Adopted transactions have no bytes here. */
export const listLiveBytes = (db: Db): Promise<readonly Buffer[]> =>
  db.anyFirst(sql.type(z.object({ bytes: z.instanceof(Buffer) }))`
    select t.wire as bytes from intents i join transactions t using (intent_id)
    where ${intentState.isOpen} and ${isLive} and length(t.wire) > 0`);

/** Which transactions are recorded here, of any kind. */
export const listRecorded = (db: Db, signatures: readonly string[]): Promise<readonly string[]> =>
  db.anyFirst(sql.type(z.object({ signature: z.string() }))`
    select signature from transactions where signature = any(${sql.array([...signatures], 'text')})`);

/**
 * Transactions that this service has signed alone or with an owner. Their messages are known, and
 * none of them is an outgoing payment.
 */
export const listBuiltHere = (db: Db, signatures: readonly string[]): Promise<readonly string[]> =>
  db.anyFirst(sql.type(z.object({ signature: z.string() }))`
    select t.signature from transactions t join intents i using (intent_id)
    where t.signature = any(${sql.array([...signatures], 'text')}) and i.kind not in ('incoming', 'outgoing')`);
