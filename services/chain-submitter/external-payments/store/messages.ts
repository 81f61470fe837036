import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { intents } from '../../intents/model/state.ts';
import type { ExternalRequest } from '../../intents/parse-order.ts';

const Message = z.object({
  message_hash: z.string(),
  wire: z.instanceof(Buffer),
  blockhash: z.string(),
  last_valid_block_height: z.bigint().transform(Number),
});
/** The signed message of an outgoing payment. */
export type ExternalMessage = z.infer<typeof Message>;

/** The watcher looks for a new message on chain after this time. */
const FIRST_WATCH_AFTER = '1 second';

/**
 * Inserts an outgoing payment with its only bytes. This is one statement and its commit, after
 * which the bytes may be handed out.
 * @returns false when the attempt has an intent. One that is being committed or closed is waited for
 * @throws a unique violation when another payment has this message
 */
export const insertExternal = async (
  db: Db,
  intent: { intent_id: string; object_id: string; request: ExternalRequest; traceparent: string | null },
  { message_hash, wire, blockhash, last_valid_block_height }: ExternalMessage,
): Promise<boolean> => {
  const row = await db.maybeOne(sql.typeAlias('id')`
    with inserted as (
      insert into intents (intent_id, kind, object_id, request, status, traceparent, next_at)
      values (${intent.intent_id}, 'external', ${intent.object_id}, ${JSON.stringify(intent.request)}::jsonb,
        ${intents.to('sign')}, ${intent.traceparent}, app_now() + ${FIRST_WATCH_AFTER}::interval)
      on conflict (intent_id) do nothing returning intent_id
    )
    insert into external_messages (intent_id, message_hash, wire, blockhash, last_valid_block_height)
    select intent_id, ${message_hash}, ${sql.binary(wire)}, ${blockhash}, ${last_valid_block_height}::bigint
    from inserted returning intent_id as id`);
  return row !== null;
};

/** The signed message of an intent, or null. */
export const findMessage = (db: Db, intentId: string): Promise<ExternalMessage | null> =>
  db.maybeOne(sql.type(Message)`
    select message_hash, wire, blockhash, last_valid_block_height
    from external_messages where intent_id = ${intentId}`);

/** Whether an outgoing payment has this message. */
export const isOutgoing = (db: Db, messageHash: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ is_outgoing: z.boolean() }))`
    select exists (select from external_messages where message_hash = ${messageHash}) as is_outgoing`);

/**
 * Transactions that this service has signed alone or with an owner. Their messages are known, and
 * none of them is an outgoing payment.
 */
export const listBuiltHere = (db: Db, signatures: readonly string[]): Promise<readonly string[]> =>
  db.anyFirst(sql.type(z.object({ signature: z.string() }))`
    select t.signature from transactions t join intents i using (intent_id)
    where t.signature = any(${sql.array([...signatures], 'text')}) and i.kind not in ('foreign', 'external')`);
