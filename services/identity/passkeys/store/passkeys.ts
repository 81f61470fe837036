import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { type Page, pageBy } from '../../../../shared/lists/page.ts';

const Row = z.object({
  passkey_id: z.string(),
  account_id: z.string(),
  credential_id: z.string(),
  public_key: z.custom<Uint8Array>((value) => value instanceof Uint8Array),
  transports: z.array(z.string()),
  label: z.string(),
  backed_up: z.boolean(),
  created_at: z.number(),
  last_used_at: z.number().nullable(),
});
export type PasskeyRow = z.infer<typeof Row>;

const columns = sql.fragment`passkey_id, account_id, credential_id, public_key, transports, label, backed_up,
  created_at, last_used_at`;

/** The registration options list every passkey of the account, so their number is bounded. */
export const MAX_PASSKEYS = 20;

/**
 * Writes a new passkey. Null when the account has the maximum, or when the credential is registered
 * already. Call it within a transaction: the lock makes concurrent registrations of an account
 * count one after another.
 */
export const insertPasskey = async (
  tx: Db,
  row: Omit<PasskeyRow, 'created_at' | 'last_used_at'> & { counter: number },
): Promise<PasskeyRow | null> => {
  await tx.query(sql.typeAlias('void')`select from accounts where account_id = ${row.account_id} for update`);
  return tx.maybeOne(sql.type(Row)`
    insert into passkeys (passkey_id, account_id, credential_id, public_key, counter, transports, label, backed_up)
    select ${row.passkey_id}, ${row.account_id}, ${row.credential_id}, ${sql.binary(Buffer.from(row.public_key))},
      ${row.counter}, ${sql.array(row.transports, 'text')}, ${row.label}, ${row.backed_up}
    where (select count(*) from passkeys where account_id = ${row.account_id}) < ${MAX_PASSKEYS}
    on conflict (credential_id) do nothing
    returning ${columns}`);
};

/** All passkeys of an account, newest first. There are few. */
export const listAllPasskeyRows = (db: Db, accountId: string): Promise<readonly PasskeyRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from passkeys where account_id = ${accountId} order by passkey_id desc`);

/** A page of the account's passkeys, newest first, and one more. */
export const listPasskeyRows = (
  db: Db,
  { account_id }: { account_id: string },
  page: Page,
): Promise<readonly PasskeyRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from passkeys where account_id = ${account_id} ${pageBy('passkey_id', page)}`);

/** The passkey that an authenticator names, or null. */
export const findPasskey = (db: Db, credentialId: string): Promise<PasskeyRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from passkeys where credential_id = ${credentialId}`);

/**
 * Records the counter of a use. False when the stored counter is above 0 and the new one is not
 * greater (docs/spec/decisions.md, Passkeys). It is one statement, so that of two copies that are
 * used at the same time with the same counter one is detected.
 */
export const recordPasskeyUse = async (
  db: Db,
  use: { passkey_id: string; counter: number; backed_up: boolean },
): Promise<boolean> => {
  const id = await db.maybeOneFirst(sql.typeAlias('id')`
    update passkeys set counter = ${use.counter}, backed_up = ${use.backed_up}, last_used_at = app_now()
    where passkey_id = ${use.passkey_id} and (counter = 0 or counter < ${use.counter})
    returning passkey_id as id`);
  return id !== null;
};

/** Deletes the account's passkey. Null when the account has no such passkey. */
export const deletePasskeyRow = (db: Db, accountId: string, passkeyId: string): Promise<PasskeyRow | null> =>
  db.maybeOne(sql.type(Row)`
    delete from passkeys where account_id = ${accountId} and passkey_id = ${passkeyId}
    returning ${columns}`);

/** Deletes all passkeys of an account. */
export const deletePasskeysOf = (tx: Db, accountId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`delete from passkeys where account_id = ${accountId}`);
