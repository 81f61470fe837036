/** Lifetimes of a sign-in (docs/spec/decisions.md, Sign-in). */
export const SESSION_DAYS = 30;
export const SESSION_IDLE_DAYS = 7;
/** A client whose answer got lost, or two tabs at once: the direct predecessor gets the same successor this long. */
export const REPEAT_SECONDS = 10;

/** Times are epoch milliseconds of the database's clock. */
export type SessionState = {
  generation: number;
  rotated_at: number;
  idle_expires_at: number;
  expires_at: number;
  revoked_at: number | null;
};

/**
 * What a refresh token of this generation gets. The store rotates by one conditional update, which holds the same
 * condition as `rotate` here; this decides for the tokens that it did not move.
 * - `rotate`: it is the current one
 * - `repeat`: the same successor again
 * - `reuse`: an old one, so two hold this sign-in and one of them is a thief: end it
 * - `ended`: nothing to end
 */
export const refreshOutcome = (
  session: SessionState,
  generation: number,
  now: number,
): 'rotate' | 'repeat' | 'reuse' | 'ended' => {
  const over = session.revoked_at !== null || now >= session.expires_at || now >= session.idle_expires_at;
  // A later one than we know: the database was restored from a backup. Ask for a new sign-in.
  if (over || generation > session.generation) return 'ended';
  if (generation === session.generation) return 'rotate';
  const fresh = now - session.rotated_at <= REPEAT_SECONDS * 1000;
  return generation === session.generation - 1 && fresh ? 'repeat' : 'reuse';
};
