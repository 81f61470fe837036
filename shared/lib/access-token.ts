import { randomUUID } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { AccountId, Environment } from '../contract/primitives.ts';
import type { PublicKeys, SigningKey } from './keys.ts';

/**
 * The access token of a sign-in (docs/spec/decisions.md, Sign-in): a JWT signed with EdDSA.
 * identity signs, the gateway verifies; whether the sign-in is still open is asked of identity
 * (findSession).
 */
const ISSUER = 'quittance';
const AUDIENCE = 'quittance-api';
/** Lifetime of an access token: 15 minutes. */
export const ACCESS_TOKEN_SECONDS = 900;

type AccessClaims = {
  accountId: string;
  sessionId: string;
  environment: Environment;
  /** How the person signed in: `email` for a link, `passkey` (RFC 8176 knows no value for either). */
  amr: readonly string[];
  /** Seconds since 1970 of the sign-in itself; refresh does not renew it. */
  authTime: number;
  /** Epoch milliseconds. */
  now: number;
};

type VerifiedAccess = {
  accountId: string;
  sessionId: string;
  authTime: number;
  env: Environment;
  /** Epoch milliseconds from which on it is not valid. */
  expiresAt: number;
};

/** Signs an access token; its kid is that of the key, `<env>.session.<n>`. */
export const signAccessToken = (claims: AccessClaims, { kid, key }: SigningKey): Promise<string> => {
  const issuedAt = Math.floor(claims.now / 1000);
  return new SignJWT({
    sid: claims.sessionId,
    env: claims.environment,
    amr: [...claims.amr],
    auth_time: claims.authTime,
  })
    .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(claims.accountId)
    .setJti(randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ACCESS_TOKEN_SECONDS)
    .sign(key);
};

const Payload = z.object({
  sub: AccountId,
  sid: z.string().min(1).max(64),
  env: Environment,
  auth_time: z.int().min(0).max(4102444800),
  iat: z.int(),
  exp: z.int(),
});

/** base64url has several spellings of the same bytes (padding bits); only the one that was issued is a token. */
const isCanonical = (token: string): boolean =>
  token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);

/**
 * Whom an access token stands for, or null for anything that is not a valid one: other algorithm (`none`, HS256
 * with the public key), unknown kid or one of another use, claim and key of different environments, foreign
 * issuer or audience, expired, altered. Never throws on attacker's bytes.
 * @param now epoch milliseconds
 */
export const verifyAccessToken = async (
  token: string,
  { keys, now }: { keys: PublicKeys; now: number },
): Promise<VerifiedAccess | null> => {
  try {
    if (!isCanonical(token)) return null;
    const key = keys.get(decodeProtectedHeader(token).kid ?? '');
    if (key === undefined || key.use !== 'session') return null;
    // What a key signed before it was retired has expired by then; what comes later was signed by a thief.
    if (key.retiredAt !== null && now > key.retiredAt + ACCESS_TOKEN_SECONDS * 1000) return null;
    const { payload } = await jwtVerify(token, key.key, {
      algorithms: ['EdDSA'],
      issuer: ISSUER,
      audience: AUDIENCE,
      currentDate: new Date(now),
      requiredClaims: ['jti'],
    });
    const claims = Payload.safeParse(payload);
    if (!claims.success || claims.data.env !== key.env) return null;
    const { sub, sid, auth_time, env, exp } = claims.data;
    return { accountId: sub, sessionId: sid, authTime: auth_time, env, expiresAt: exp * 1000 };
  } catch {
    return null;
  }
};
