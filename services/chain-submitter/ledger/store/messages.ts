import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

const Message = z.object({
  message_hash: z.string(),
  wire: z.instanceof(Buffer),
  last_valid_block_height: z.bigint().transform(Number),
});
/** The signed message of an outgoing payment. */
export type OutgoingMessage = z.infer<typeof Message>;

/**
 * Inserts the message of an outgoing payment.
 * @throws a unique violation when another payment has this message
 */
export const insertMessage = (
  tx: Db,
  intentId: string,
  { message_hash, wire, last_valid_block_height }: OutgoingMessage,
): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`
    insert into outgoing_messages (intent_id, message_hash, wire, last_valid_block_height)
    values (${intentId}, ${message_hash}, ${sql.binary(wire)}, ${last_valid_block_height}::bigint)`);

/** The signed message of an intent, or null. */
export const findMessage = (db: Db, intentId: string): Promise<OutgoingMessage | null> =>
  db.maybeOne(sql.type(Message)`
    select message_hash, wire, last_valid_block_height
    from outgoing_messages where intent_id = ${intentId}`);

/** Corrects the last block in which a message is valid. */
export const updateLastValid = (db: Db, intentId: string, height: number): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update outgoing_messages set last_valid_block_height = ${height}::bigint where intent_id = ${intentId}`);

/** Whether an outgoing payment has this message. */
export const isOutgoing = (db: Db, messageHash: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ is_outgoing: z.boolean() }))`
    select exists (select from outgoing_messages where message_hash = ${messageHash}) as is_outgoing`);
