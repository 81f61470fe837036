import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { cellOf, withCell } from '../../../../shared/lib/cell.ts';

/**
 * Tokens that travel by mail or cookie are derived from ids with the first of IDENTITY_SECRET. The
 * mail job and a repeated refresh derive the token again, and a copy of the database contains none.
 */
const derive = (secret: Buffer, ...parts: (string | number)[]): Buffer =>
  createHmac('sha256', secret).update(parts.join('\n')).digest();

/** 43 characters of 246 bits that nobody can guess, and of the link's cell. */
const linkText = (secret: Buffer, use: string, environment: string, linkId: string): string =>
  withCell(derive(secret, use, environment, linkId), cellOf(linkId) ?? undefined).toString('base64url');

/** Token of a sign-in link: `ml_<env>_` + 43 characters. */
export const loginToken = (secret: Buffer, environment: string, linkId: string): string =>
  `ml_${environment}_${linkText(secret, 'login-link', environment, linkId)}`;

/** Token of a link that reveals a key: `rv_<env>_` + 43 characters. */
export const revealToken = (secret: Buffer, environment: string, linkId: string): string =>
  `rv_${environment}_${linkText(secret, 'key-reveal', environment, linkId)}`;

/** SHA-256 as base64url: the stored form of a link's token and of a browser's nonce. */
export const tokenHash = (token: string): string => createHash('sha256').update(token).digest('base64url');

/**
 * The token of a link that has this hash. It may have been derived with any of the secrets, because
 * the first one may have changed since.
 */
export const tokenWithHash = (
  secrets: readonly Buffer[],
  tokenOf: (secret: Buffer) => string,
  hash: string | null,
): string => secrets.map(tokenOf).find((token) => tokenHash(token) === hash) ?? tokenOf(secrets[0]!);

type RefreshToken = { sessionId: string; generation: number };

const SESSION_PREFIX = 'ses_';
const REFRESH = /^rt_(test|live)_([0-7][0-9a-hjkmnp-tv-z]{25})_([1-9][0-9]{0,8})_([A-Za-z0-9_-]{43})$/;

/**
 * Refresh token of one generation of a session: `rt_<env>_<session>_<generation>_<mac>`. Clients
 * treat it as opaque. The MAC proves that this service issued it, so the database stores nothing of
 * it, and the token of an earlier generation is recognised as one.
 */
export const refreshToken = (
  secret: Buffer,
  environment: string,
  { sessionId, generation }: RefreshToken,
): string => {
  const mac = derive(secret, 'refresh', environment, sessionId, generation).toString('base64url');
  return `rt_${environment}_${sessionId.slice(SESSION_PREFIX.length)}_${generation}_${mac}`;
};

/**
 * The session and generation of a refresh token of this environment, or null when this service did
 * not issue the token.
 */
export const openRefreshToken = (
  secrets: readonly Buffer[],
  environment: string,
  token: string,
): RefreshToken | null => {
  const match = REFRESH.exec(token);
  if (match === null) return null;
  const opened = { sessionId: `${SESSION_PREFIX}${match[2]}`, generation: Number(match[3]) };
  const received = Buffer.from(token);
  const isOf = (secret: Buffer): boolean => {
    const expected = Buffer.from(refreshToken(secret, environment, opened));
    return received.length === expected.length && timingSafeEqual(received, expected);
  };
  return secrets.some(isOf) ? opened : null;
};
