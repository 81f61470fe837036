/** Lifetimes of a sign-in (docs/spec/decisions.md, Sign-in). */
export const SESSION_DAYS = 30;
export const SESSION_IDLE_DAYS = 7;
/**
 * How long the direct predecessor of a refresh token gets the same successor: a client may lose the
 * answer, and two tabs may refresh at the same time.
 */
const REPEAT_SECONDS = 10;

/** Times are epoch milliseconds of the database's clock. */
type SessionState = {
  generation: number;
  rotated_at: number;
  idle_expires_at: number;
  expires_at: number;
  revoked_at: number | null;
};

/**
 * What a refresh token of this generation gets. The store rotates by one conditional update with
 * the condition of `rotate` here. This function decides about the tokens that the update refused.
 * - `rotate`: the token is the current one
 * - `repeat`: return the same successor again
 * - `reuse`: the token is an old one. Two clients hold this session and one of them may have stolen
 *   it, so the session is revoked
 * - `ended`: the session is over already
 */
export const refreshOutcome = (
  session: SessionState,
  generation: number,
  now: number,
): 'rotate' | 'repeat' | 'reuse' | 'ended' => {
  const over = session.revoked_at !== null || now >= session.expires_at || now >= session.idle_expires_at;
  // A later generation than the stored one: the database was restored from a backup.
  if (over || generation > session.generation) return 'ended';
  if (generation === session.generation) return 'rotate';
  const recent = now - session.rotated_at <= REPEAT_SECONDS * 1000;
  return generation === session.generation - 1 && recent ? 'repeat' : 'reuse';
};
