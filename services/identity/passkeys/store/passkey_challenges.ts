import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

/** How long a ceremony may take, the person's search for the key included. */
export const CHALLENGE_MINUTES = 5;

export type Ceremony = 'register' | 'login';

/** Keeps a challenge for its one answer. */
export const insertChallenge = (
  db: Db,
  row: { challenge: string; ceremony: Ceremony; session_id: string | null },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into passkey_challenges (challenge, ceremony, session_id, expires_at)
    values (${row.challenge}, ${row.ceremony}, ${row.session_id},
      app_now() + ${CHALLENGE_MINUTES} * interval '1 minute')`);

/**
 * Uses a challenge up: whether it was handed out for this ceremony and, for a registration, to this sign-in. One of
 * any number of answers finds it.
 */
export const useChallenge = async (
  db: Db,
  row: { challenge: string; ceremony: Ceremony; session_id: string | null },
): Promise<boolean> =>
  (await db.maybeOneFirst(sql.type(z.object({ good: z.boolean() }))`
    delete from passkey_challenges where challenge = ${row.challenge}
    returning ceremony = ${row.ceremony} and session_id is not distinct from ${row.session_id}
      and expires_at > app_now() as good`)) ?? false;

/** Anybody can have one written, so they do not stay. */
export const purgeChallenges = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from passkey_challenges where expires_at < app_now()`);
