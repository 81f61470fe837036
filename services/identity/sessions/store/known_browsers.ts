import { z } from 'zod';
import { KNOWN_BROWSER_DAYS } from '../../../../shared/contract/identity/sign-in.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';

/** More than a person uses. A thief of mails cannot fill the table. */
const MAX_BROWSERS = 10;

/**
 * Whether a browser has signed in with an address. For a statement. It reads no account, so that a
 * request takes the same time for known and unknown addresses.
 */
export const isKnownBrowserHash = (email: string, browserHash: string | null) => sql.fragment`exists (
  select from known_browsers where email = ${email} and browser_hash = ${browserHash}
    and signed_in_at > app_now() - ${KNOWN_BROWSER_DAYS} * interval '1 day')`;

/** Whether a browser has signed in with an address. */
export const isKnownBrowser = (db: Db, email: string, browserHash: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.strictObject({ known: z.boolean() }))`
    select ${isKnownBrowserHash(email, browserHash)} as known`);

/**
 * Records that a browser has signed in with an address, in place of the one that signed in longest
 * ago.
 */
export const upsertKnownBrowser = async (tx: Db, email: string, browserHash: string): Promise<void> => {
  await tx.query(sql.typeAlias('void')`
    insert into known_browsers (email, browser_hash) values (${email}, ${browserHash})
    on conflict (email, browser_hash) do update set signed_in_at = excluded.signed_in_at`);
  await tx.query(sql.typeAlias('void')`
    delete from known_browsers where email = ${email} and browser_hash not in (
      select browser_hash from known_browsers where email = ${email}
      order by signed_in_at desc, browser_hash limit ${MAX_BROWSERS})`);
};

/** Deletes browsers that have not signed in for long. */
export const purgeKnownBrowsers = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    delete from known_browsers where signed_in_at < app_now() - ${KNOWN_BROWSER_DAYS} * interval '1 day'`);

/** Deletes the browsers of an address. */
export const deleteKnownBrowsersOf = (tx: Db, email: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`delete from known_browsers where email = ${email}`);
