import { z } from 'zod';
import { LINK_MINUTES } from '../../../../shared/contract/identity/sign-in.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';

/** Writes the newest link of an address in place of any earlier one. Locks the address. */
export const upsertLoginLink = (
  db: Db,
  link: { email: string; link_id: string; token_hash: string; browser_hash: string | null },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into login_links (email, link_id, token_hash, browser_hash, expires_at)
    values (${link.email}, ${link.link_id}, ${link.token_hash}, ${link.browser_hash},
      app_now() + ${LINK_MINUTES} * interval '1 minute')
    on conflict (email) do update set link_id = excluded.link_id, token_hash = excluded.token_hash,
      browser_hash = excluded.browser_hash, created_at = excluded.created_at,
      expires_at = excluded.expires_at, used_at = null`);

const LoginLink = z.object({ email: z.string(), browser_hash: z.string().nullable() });
export type LoginLink = z.infer<typeof LoginLink>;

/** The link while it is valid. Null when it is unknown, used, expired or not the newest. */
export const findLoginLink = (db: Db, tokenHash: string): Promise<LoginLink | null> =>
  db.maybeOne(sql.type(LoginLink)`
    select email, browser_hash from login_links
    where token_hash = ${tokenHash} and used_at is null and expires_at > app_now()`);

/** Consumes a valid link. Null when it is not valid. Of concurrent callers, one gets the link. */
export const consumeLoginLink = (db: Db, tokenHash: string): Promise<LoginLink | null> =>
  db.maybeOne(sql.type(LoginLink)`
    update login_links set used_at = app_now()
    where token_hash = ${tokenHash} and used_at is null and expires_at > app_now()
    returning email, browser_hash`);

/** Deletes expired links. Anyone can request a link for any address, so rows must not pile up. */
export const purgeLoginLinks = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from login_links where expires_at < app_now()`);

/** Deletes the link of an address. */
export const deleteLoginLink = (tx: Db, email: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`delete from login_links where email = ${email}`);
