import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { isoTime } from '../../../../shared/lib/clock.ts';

/** The comparison with the chain is due again after this time. */
const COMPARED_EVERY = sql.fragment`interval '1 minute'`;
/** An older comparison says nothing about the records of now. */
const COMPARED_WITHIN = sql.fragment`interval '5 minutes'`;

const Compared = z.object({
  compared_slot: z.bigint().transform(Number).nullable(),
  lost_slot: z.bigint().transform(Number).nullable(),
  /** When the server of the database has started, as the database writes it. */
  server_start: z.string(),
  is_due: z.boolean(),
});
/** How far the chain was compared with the record. */
export type Compared = z.infer<typeof Compared>;

/** How far the chain was compared, and whether it is due to be compared again. */
export const getCompared = (db: Db): Promise<Compared> =>
  db.one(sql.type(Compared)`
    select compared_slot, lost_slot, pg_postmaster_start_time()::text as server_start,
      compared_start is distinct from pg_postmaster_start_time()
        or coalesce(compared_at < app_now() - ${COMPARED_EVERY}, true) as is_due
    from settings`);

/**
 * Records that everything up to a slot was compared. Signing may go on after a start of the
 * database's server.
 * @returns false if that server has started again meanwhile
 */
export const recordCompared = async (db: Db, slot: number, serverStart: string): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update settings set compared_slot = ${BigInt(slot)}, compared_at = app_now(),
      compared_start = pg_postmaster_start_time()
    where pg_postmaster_start_time()::text = ${serverStart}`);
  return rowCount === 1;
};

/** Transactions of the fee payers that the chain has and the record has not. */
export type LostRecords = {
  /** One that its signature proves. */
  signature: string;
  feePayer: string;
  /** The time of the oldest one's block, epoch milliseconds. */
  since: number;
  /** The slot of the newest one. */
  newestSlot: number;
  /** What is missing up to this slot is the same loss. */
  upToSlot: number;
  /** None of them is included after this block. */
  untilHeight: number;
};

const Before = z.object({ paused: z.boolean(), lost_slot: z.bigint().transform(Number).nullable() });

/**
 * Records a loss, and pauses signing.
 * @returns whether signing was paused before; null if another replica has recorded this loss
 */
export const recordLost = async (tx: Db, lost: LostRecords): Promise<{ wasPaused: boolean } | null> => {
  const before = await tx.one(sql.type(Before)`select paused, lost_slot from settings for update`);
  if (before.lost_slot !== null && before.lost_slot >= lost.newestSlot) return null;
  await tx.query(sql.typeAlias('void')`
    update settings set paused = true, lost_slot = ${BigInt(lost.upToSlot)},
      lost_until_height = ${BigInt(lost.untilHeight)}`);
  await tx.query(sql.typeAlias('void')`
    insert into lost_records (lost_id, signature, fee_payer, since)
    values (${randomUUID()}, ${lost.signature}, ${lost.feePayer}, ${isoTime(lost.since)}::timestamptz)`);
  return { wasPaused: before.paused };
};

/** Until which block lost transactions may be included; null: there are none. */
export const getLostUntilHeight = (db: Db): Promise<number | null> =>
  db.oneFirst(sql.type(z.object({ height: z.bigint().transform(Number).nullable() }))`
    select lost_until_height as height from settings`);

const Row = z.object({ lost_id: z.string(), since: z.number().transform(isoTime) });
const SHOWN = 100;

/** The last losses, the newest first. */
export const listLost = (db: Db): Promise<readonly { lost_id: string; since: string }[]> =>
  db.any(sql.type(Row)`select lost_id, since from lost_records order by found_at desc limit ${SHOWN}`);

/** Whether the chain was compared since the server of the database has started, and just now. */
export const isCompared = (db: Db): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ compared: z.boolean() }))`
    select coalesce(compared_start = pg_postmaster_start_time() and compared_at > app_now() - ${COMPARED_WITHIN},
      false) as compared
    from settings`);
