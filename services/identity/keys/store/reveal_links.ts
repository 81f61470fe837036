import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

/** How long a reveal link works (docs/spec/decisions.md, Services). */
export const REVEAL_MINUTES = 15;

/** Makes this the newest link of a service or delegate: whatever link it had before is gone. */
export const putRevealLink = (
  db: Db,
  link: { owner_id: string; link_id: string; token_hash: string; revoke_previous: boolean },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into reveal_links (owner_id, link_id, token_hash, revoke_previous, expires_at)
    values (${link.owner_id}, ${link.link_id}, ${link.token_hash}, ${link.revoke_previous},
      app_now() + ${REVEAL_MINUTES} * interval '1 minute')
    on conflict (owner_id) do update set link_id = excluded.link_id, token_hash = excluded.token_hash,
      revoke_previous = excluded.revoke_previous, expires_at = excluded.expires_at, used_at = null`);

const Used = z.object({ revoke_previous: z.boolean() });

/** Uses the link of this owner up, or null when it is unknown, used, expired, another's or not the newest. One wins. */
export const useRevealLink = (
  db: Db,
  ownerId: string,
  tokenHash: string,
): Promise<z.infer<typeof Used> | null> =>
  db.maybeOne(sql.type(Used)`
    update reveal_links set used_at = app_now()
    where owner_id = ${ownerId} and token_hash = ${tokenHash} and used_at is null and expires_at > app_now()
    returning revoke_previous`);

/** Removes what nobody can use any more. */
export const purgeRevealLinks = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from reveal_links where expires_at < app_now()`);
