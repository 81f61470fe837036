import { z } from 'zod';
import type { Client } from '../../../../shared/contract/client.ts';
import { DEVICE_MINUTES } from '../../../../shared/contract/identity/devices.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { isFrozen } from '../../accounts/store.ts';

const isValid = sql.fragment`expires_at > app_now()`;

/** Writes a sign-in that waits for a person. False if another one has the short code. */
export const insertDeviceSignIn = async (
  db: Db,
  row: { device_hash: string; user_code: string; client_name: string; client: Client | null },
): Promise<boolean> =>
  (await db.maybeOneFirst(sql.typeAlias('id')`
    insert into device_sign_ins (device_hash, user_code, client_name, address, agent, expires_at)
    values (${row.device_hash}, ${row.user_code}, ${row.client_name}, ${row.client?.address ?? null},
      ${row.client?.agent ?? null}, app_now() + ${DEVICE_MINUTES} * interval '1 minute')
    on conflict (user_code) do nothing
    returning user_code as id`)) !== null;

const Undecided = z.object({
  client_name: z.string(),
  address: z.string().nullable(),
  agent: z.string().nullable(),
  created_at: z.number(),
  expires_at: z.number(),
});

/** The sign-in of this short code while nobody has decided about it, or null. */
export const findUndecidedSignIn = (db: Db, userCode: string): Promise<z.infer<typeof Undecided> | null> =>
  db.maybeOne(sql.type(Undecided)`
    select client_name, address, agent, created_at, expires_at from device_sign_ins
    where user_code = ${userCode} and allowed is null and ${isValid}`);

type Decision = { user_code: string; account_id: string; allow: boolean };

/** Decides about a sign-in. False if there is none to decide about. The first decision stands. */
export const recordDecision = async (db: Db, decision: Decision): Promise<boolean> =>
  (await db.maybeOneFirst(sql.typeAlias('id')`
    update device_sign_ins set account_id = ${decision.account_id}, allowed = ${decision.allow}
    where user_code = ${decision.user_code} and allowed is null and ${isValid}
    returning user_code as id`)) !== null;

/** What this account has decided about a sign-in, or null if it has not decided. */
export const findDecision = (db: Db, userCode: string, accountId: string): Promise<boolean | null> =>
  db.maybeOneFirst(sql.type(z.object({ allowed: z.boolean() }))`
    select allowed from device_sign_ins
    where user_code = ${userCode} and account_id = ${accountId} and ${isValid}`);

const Used = z.object({ account_id: z.string(), client_name: z.string(), frozen: z.boolean() });

/** Uses an allowed sign-in up. Null if it is not allowed. Of concurrent callers, one gets it. */
export const consumeDeviceSignIn = (db: Db, deviceHash: string): Promise<z.infer<typeof Used> | null> =>
  db.maybeOne(sql.type(Used)`
    with used as (
      update device_sign_ins set used_at = app_now()
      where device_hash = ${deviceHash} and allowed and used_at is null and ${isValid}
      returning account_id, client_name)
    select account_id, client_name, ${isFrozen} as frozen from used join accounts using (account_id)
    where closed_at is null`);

const State = z.object({ denied: z.boolean(), used: z.boolean() });

/** How far a sign-in is. Null if the code is unknown or has expired. */
export const findDeviceSignIn = (db: Db, deviceHash: string): Promise<z.infer<typeof State> | null> =>
  db.maybeOne(sql.type(State)`
    select allowed is false as denied, used_at is not null as used from device_sign_ins
    where device_hash = ${deviceHash} and ${isValid}`);

/** Deletes expired rows. Anyone can begin a sign-in, so rows must not pile up. */
export const purgeDeviceSignIns = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from device_sign_ins where expires_at < app_now()`);

/** Deletes the sign-ins that an account has decided about. */
export const deleteDeviceSignInsOf = (tx: Db, accountId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`delete from device_sign_ins where account_id = ${accountId}`);
