import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Tokens that travel by mail or cookie. They are derived from ids by IDENTITY_SECRET: the mail job and the repeat
 * of a refresh make the same token again, and a copy of the database holds none.
 */
const derive = (secret: Buffer, ...parts: (string | number)[]): string =>
  createHmac('sha256', secret).update(parts.join('\n')).digest('base64url');

/** Token of a sign-in link: `ml_<env>_` + 43 characters. */
export const loginToken = (secret: Buffer, environment: string, linkId: string): string =>
  `ml_${environment}_${derive(secret, 'login-link', environment, linkId)}`;

/** Token of a link that reveals a key: `rv_<env>_` + 43 characters. */
export const revealToken = (secret: Buffer, environment: string, linkId: string): string =>
  `rv_${environment}_${derive(secret, 'key-reveal', environment, linkId)}`;

/** SHA-256 as base64url: what is kept of a login token and of the nonce of a browser. */
export const tokenHash = (token: string): string => createHash('sha256').update(token).digest('base64url');

export type RefreshToken = { sessionId: string; generation: number };

const SESSION_PREFIX = 'ses_';
const REFRESH = /^rt_(test|live)_([0-7][0-9a-hjkmnp-tv-z]{25})_([1-9][0-9]{0,8})_([A-Za-z0-9_-]{43})$/;

/**
 * Refresh token of one generation of a session: `rt_<env>_<session>_<generation>_<mac>`. Opaque to clients. The mac
 * says that we issued it, so nothing of it needs keeping, and a token of any earlier generation is known as one.
 */
export const refreshToken = (
  secret: Buffer,
  environment: string,
  { sessionId, generation }: RefreshToken,
): string => {
  const mac = derive(secret, 'refresh', environment, sessionId, generation);
  return `rt_${environment}_${sessionId.slice(SESSION_PREFIX.length)}_${generation}_${mac}`;
};

/** What a refresh token of this environment stands for, or null when we did not issue it. */
export const openRefreshToken = (secret: Buffer, environment: string, token: string): RefreshToken | null => {
  const match = REFRESH.exec(token);
  if (match === null) return null;
  const opened = { sessionId: `${SESSION_PREFIX}${match[2]}`, generation: Number(match[3]) };
  const expected = Buffer.from(refreshToken(secret, environment, opened));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected) ? opened : null;
};
