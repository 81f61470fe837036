import { z } from 'zod';
import { LINK_MINUTES } from '../../../../shared/contract/identity/sign-in.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { isKnownBrowserHash } from './known_browsers.ts';

/**
 * How many links of an address are valid at the same time. With one, whoever knows the address
 * could make its owner's link invalid.
 */
const VALID_LINKS = 3;

const newestFirst = sql.fragment`order by created_at desc, link_id desc`;

/**
 * Writes a link of an address. The newest links are valid until one of them is used. Links that
 * known browsers requested are counted apart, so that a stranger's requests do not end them.
 */
export const insertLoginLink = async (
  db: Db,
  link: {
    email: string;
    link_id: string;
    token_hash: string;
    browser_hash: string | null;
    /** Null: no page of a payment has requested it. */
    continue_to: string | null;
  },
): Promise<void> => {
  await db.query(sql.typeAlias('void')`
    insert into login_links (email, link_id, token_hash, browser_hash, continue_to, from_known_browser,
      expires_at)
    values (${link.email}, ${link.link_id}, ${link.token_hash}, ${link.browser_hash}, ${link.continue_to},
      ${isKnownBrowserHash(link.email, link.browser_hash)}, app_now() + ${LINK_MINUTES} * interval '1 minute')`);
  await db.query(sql.typeAlias('void')`
    delete from login_links where email = ${link.email} and link_id not in (
      select link_id from (
        select link_id, row_number() over (partition by from_known_browser ${newestFirst}) as place
        from login_links where email = ${link.email} and used_at is null) as unused
      where place <= ${VALID_LINKS})`);
};

const LoginLink = z.object({
  email: z.string(),
  browser_hash: z.string().nullable(),
  continue_to: z.string().nullable(),
});
export type LoginLink = z.infer<typeof LoginLink>;

const isUsable = sql.fragment`used_at is null and expires_at > app_now()`;

/** The link while it is valid. Null when it is unknown, used, expired or displaced by newer. */
export const findLoginLink = (db: Db, tokenHash: string): Promise<LoginLink | null> =>
  db.maybeOne(sql.type(LoginLink)`
    select email, browser_hash, continue_to from login_links where token_hash = ${tokenHash} and ${isUsable}`);

/**
 * Consumes a valid link, and with it all others of its address. Null when it is not valid. Of
 * concurrent callers with links of one address, one gets its link.
 * @param browserHash of the browser that uses it. Null: no page does
 */
export const consumeLoginLink = (
  db: Db,
  tokenHash: string,
  browserHash: string | null,
): Promise<LoginLink | null> =>
  db.maybeOne(sql.type(LoginLink)`
    with valid as (
      select link_id from login_links
      where email = (select email from login_links where token_hash = ${tokenHash} and ${isUsable})
        and ${isUsable}
      order by link_id for update),
    used as (
      update login_links set used_at = app_now(), used_by_hash = ${browserHash}
      where link_id in (select link_id from valid)
      returning email, browser_hash, continue_to, token_hash)
    select email, browser_hash, continue_to from used where token_hash = ${tokenHash}`);

const Followed = z.object({ is_used: z.boolean(), used_by_hash: z.string().nullable() });

/** The newest link that a browser has requested, until it expires. Null: there is none. */
export const findNewestLinkOf = (db: Db, browserHash: string): Promise<z.infer<typeof Followed> | null> =>
  db.maybeOne(sql.type(Followed)`
    select used_at is not null as is_used, used_by_hash from login_links
    where browser_hash = ${browserHash} and expires_at > app_now() ${newestFirst} limit 1`);

/** Deletes expired links. Anyone can request a link for any address, so rows must not pile up. */
export const purgeLoginLinks = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from login_links where expires_at < app_now()`);

/** Deletes the links of an address. */
export const deleteLoginLinks = (tx: Db, email: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`delete from login_links where email = ${email}`);
