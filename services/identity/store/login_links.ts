import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

/** How long a sign-in link works (decisions.md, Sign-in). */
export const LINK_MINUTES = 15;

/** Makes this the newest link of its address: whatever link it had before is gone. Locks the address. */
export const putLoginLink = (
  db: Db,
  link: { email: string; link_id: string; token_hash: string },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into login_links (email, link_id, token_hash, expires_at)
    values (${link.email}, ${link.link_id}, ${link.token_hash},
      app_now() + ${LINK_MINUTES} * interval '1 minute')
    on conflict (email) do update set link_id = excluded.link_id, token_hash = excluded.token_hash,
      created_at = excluded.created_at, expires_at = excluded.expires_at, used_at = null`);

const Used = z.object({ email: z.string() });

/** Uses the link up: its address, or null when it is unknown, used, expired or not the newest. One caller wins. */
export const useLoginLink = (db: Db, tokenHash: string): Promise<{ email: string } | null> =>
  db.maybeOne(sql.type(Used)`
    update login_links set used_at = app_now()
    where token_hash = ${tokenHash} and used_at is null and expires_at > app_now()
    returning email`);

/** Anybody can have a row written for any address, so they do not stay. */
export const purgeLoginLinks = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from login_links where expires_at < app_now()`);
