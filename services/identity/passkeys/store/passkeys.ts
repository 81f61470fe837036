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

/** An account has this many at most: what it may register is offered to the browser, one by one. */
export const MAX_PASSKEYS = 20;

/**
 * Writes a new passkey; null when the account has as many as it may, or the credential is known already. Within a
 * transaction: the lock lets one registration of an account at a time count them.
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

/** All of an account, newest first: there are few. */
export const listPasskeysOf = (db: Db, accountId: string): Promise<readonly PasskeyRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from passkeys where account_id = ${accountId} order by passkey_id desc`);

/** A page of the account's passkeys, newest first, and one more. */
export const listOwnPasskeys = (
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
 * Takes the counter of a use over; false when it went back or stood still although it was above 0
 * (docs/spec/decisions.md, Passkeys). One statement, so that of two copies used at once with the
 * same counter one is found out.
 */
export const usePasskey = async (
  db: Db,
  use: { passkey_id: string; counter: number; backed_up: boolean },
): Promise<boolean> => {
  const id = await db.maybeOneFirst(sql.typeAlias('id')`
    update passkeys set counter = ${use.counter}, backed_up = ${use.backed_up}, last_used_at = app_now()
    where passkey_id = ${use.passkey_id} and (counter = 0 or counter < ${use.counter})
    returning passkey_id as id`);
  return id !== null;
};

/** Removes the account's passkey; null when it has no such. */
export const removePasskey = (db: Db, accountId: string, passkeyId: string): Promise<PasskeyRow | null> =>
  db.maybeOne(sql.type(Row)`
    delete from passkeys where account_id = ${accountId} and passkey_id = ${passkeyId}
    returning ${columns}`);
