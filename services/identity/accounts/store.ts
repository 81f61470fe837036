import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

const Row = z.object({
  account_id: z.string(),
  email: z.string(),
  display_name: z.string().nullable(),
  mail_key_events: z.boolean(),
  mail_payments: z.boolean(),
  spending_alert_threshold: z.bigint().nullable(),
  created_at: z.number(),
});
export type AccountRow = z.infer<typeof Row>;

const columns = sql.fragment`account_id, email, display_name, mail_key_events, mail_payments,
  spending_alert_threshold, created_at`;

/** The id of the account of this address, which is created with the given id when there is none. */
export const ensureAccount = async (db: Db, email: string, newAccountId: string): Promise<string> => {
  // The update changes nothing; it makes the statement return the row of a sign-in that was faster.
  const { id } = await db.one(sql.typeAlias('id')`
    insert into accounts (account_id, email) values (${newAccountId}, ${email})
    on conflict (email) do update set email = excluded.email
    returning account_id as id`);
  return id;
};

/** An account that has signed in, so that exists. */
export const readAccount = (db: Db, accountId: string): Promise<AccountRow> =>
  db.one(sql.type(Row)`select ${columns} from accounts where account_id = ${accountId}`);

/** The same, locked until the transaction ends. */
export const lockAccount = (tx: Db, accountId: string): Promise<AccountRow> =>
  tx.one(sql.type(Row)`select ${columns} from accounts where account_id = ${accountId} for update`);

/** Writes the settings of an account whose row the caller holds. */
export const saveSettings = (tx: Db, row: Omit<AccountRow, 'email' | 'created_at'>): Promise<AccountRow> =>
  tx.one(sql.type(Row)`
    update accounts set display_name = ${row.display_name}, mail_key_events = ${row.mail_key_events},
      mail_payments = ${row.mail_payments}, spending_alert_threshold = ${row.spending_alert_threshold}
    where account_id = ${row.account_id}
    returning ${columns}`);
