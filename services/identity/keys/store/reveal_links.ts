import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

/** How long a reveal link is valid (docs/spec/decisions.md, Services). */
export const REVEAL_MINUTES = 15;

/** Writes the newest link of a service or delegate in place of any earlier one. */
export const upsertRevealLink = (
  db: Db,
  link: { owner_id: string; link_id: string; token_hash: string; revoke_previous: boolean },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into reveal_links (owner_id, link_id, token_hash, revoke_previous, expires_at)
    values (${link.owner_id}, ${link.link_id}, ${link.token_hash}, ${link.revoke_previous},
      app_now() + ${REVEAL_MINUTES} * interval '1 minute')
    on conflict (owner_id) do update set link_id = excluded.link_id, token_hash = excluded.token_hash,
      revoke_previous = excluded.revoke_previous, expires_at = excluded.expires_at, used_at = null`);

const Consumed = z.object({ revoke_previous: z.boolean() });

/**
 * Consumes the link of this owner. Null when it is unknown, used, expired, of another owner or not
 * the newest. Of concurrent callers, one gets it.
 */
export const consumeRevealLink = (
  db: Db,
  ownerId: string,
  tokenHash: string,
): Promise<z.infer<typeof Consumed> | null> =>
  db.maybeOne(sql.type(Consumed)`
    update reveal_links set used_at = app_now()
    where owner_id = ${ownerId} and token_hash = ${tokenHash} and used_at is null and expires_at > app_now()
    returning revoke_previous`);

/** Deletes expired links. */
export const purgeRevealLinks = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from reveal_links where expires_at < app_now()`);
