import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

/** How long a ceremony may take, including the user's search for the security key. */
export const CHALLENGE_MINUTES = 5;

export type Ceremony = 'register' | 'login' | 'approve';

/** Writes a challenge, which may be answered once. */
export const insertChallenge = (
  db: Db,
  row: { challenge: string; ceremony: Ceremony; session_id: string | null },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into passkey_challenges (challenge, ceremony, session_id, expires_at)
    values (${row.challenge}, ${row.ceremony}, ${row.session_id},
      app_now() + ${CHALLENGE_MINUTES} * interval '1 minute')`);

/**
 * The same for a challenge that is not random: requested again, it is open again, for the session
 * that requested it last.
 */
export const upsertChallenge = (
  db: Db,
  row: { challenge: string; ceremony: 'approve'; session_id: string },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into passkey_challenges (challenge, ceremony, session_id, expires_at)
    values (${row.challenge}, ${row.ceremony}, ${row.session_id},
      app_now() + ${CHALLENGE_MINUTES} * interval '1 minute')
    on conflict (challenge) do update set session_id = excluded.session_id, expires_at = excluded.expires_at`);

/**
 * Consumes a challenge. True when it was issued for this ceremony and, except for a sign-in, to
 * this session. Of concurrent answers, one finds it.
 */
export const consumeChallenge = async (
  db: Db,
  row: { challenge: string; ceremony: Ceremony; session_id: string | null },
): Promise<boolean> =>
  (await db.maybeOneFirst(sql.type(z.object({ valid: z.boolean() }))`
    delete from passkey_challenges where challenge = ${row.challenge}
    returning ceremony = ${row.ceremony} and session_id is not distinct from ${row.session_id}
      and expires_at > app_now() as valid`)) ?? false;

/** Deletes expired challenges. Anyone can request one, so rows must not pile up. */
export const purgeChallenges = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from passkey_challenges where expires_at < app_now()`);
