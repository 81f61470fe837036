import { type Db, sql } from '../../../shared/db/pool.ts';

/** The id of the account of this address, which is created with the given id when there is none. */
export const ensureAccount = async (db: Db, email: string, newAccountId: string): Promise<string> => {
  // The update changes nothing; it makes the statement return the row of a sign-in that was faster.
  const { id } = await db.one(sql.typeAlias('id')`
    insert into accounts (account_id, email) values (${newAccountId}, ${email})
    on conflict (email) do update set email = excluded.email
    returning account_id as id`);
  return id;
};
