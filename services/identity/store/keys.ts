import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

const Row = z.object({ key_id: z.string(), account_id: z.string(), service_id: z.string() });
export type KeyRow = z.infer<typeof Row>;

/** Writes the hash of a new service key. */
export const insertKey = (db: Db, key: KeyRow & { key_hash: string }): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into keys (key_id, account_id, service_id, key_hash)
    values (${key.key_id}, ${key.account_id}, ${key.service_id}, ${key.key_hash})`);

/** The live key with this hash, or null. */
export const findLiveKey = (db: Db, keyHash: string): Promise<KeyRow | null> =>
  db.maybeOne(sql.type(Row)`
    select key_id, account_id, service_id from keys
    where key_hash = ${keyHash} and (ended_at is null or ended_at > app_now())`);
