import { randomUUID } from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { AccountId, Environment } from '../../contract/primitives.ts';
import type { PublicKeys, SigningKey } from './keys.ts';

/**
 * The access token of a sign-in (docs/spec/decisions.md, Sign-in): a JWT signed with EdDSA.
 * identity signs it and the gateway verifies it. Whether the sign-in is still open is queried from
 * identity (findSessions).
 */
const ISSUER = 'quittance';
const AUDIENCE = 'quittance-api';
/** Lifetime of an access token: 15 minutes. */
export const ACCESS_TOKEN_SECONDS = 900;

type AccessClaims = {
  accountId: string;
  sessionId: string;
  environment: Environment;
  /**
   * The method of the sign-in: `email` for a link, `passkey`, `device` for a confirmed code (RFC
   * 8176 has no value for any of them).
   */
  amr: readonly string[];
  /** The time of the sign-in in seconds since 1970. A refresh does not change it. */
  authTime: number;
  /** Epoch milliseconds. */
  now: number;
};

type VerifiedAccess = {
  accountId: string;
  sessionId: string;
  amr: readonly string[];
  authTime: number;
  env: Environment;
  /** Epoch milliseconds of the expiry. */
  expiresAt: number;
};

/**
 * Why a token is not valid. `expiredAt`, in epoch milliseconds, is set only for a token that was
 * valid until then: its signature is ours.
 */
type RefusedAccess = { expiredAt: number | null };
const INVALID: RefusedAccess = { expiredAt: null };

/** Signs an access token. Its kid is that of the key, `<env>.session.<n>`. */
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
  amr: z.array(z.string()).min(1),
  auth_time: z.int().min(0).max(4102444800),
  iat: z.int(),
  exp: z.int(),
});

/**
 * base64url has several encodings of the same bytes (padding bits). Only the issued one is a token.
 */
const isCanonical = (token: string): boolean =>
  token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);

/**
 * The principal of an access token, or why it is not valid: another algorithm (`none`, HS256 with
 * the public key), an unknown kid or one of another use, claim and key of different environments, a
 * foreign issuer or audience, expired, or altered. Never throws for any input.
 * @param now epoch milliseconds
 */
export const verifyAccessToken = async (
  token: string,
  { keys, now }: { keys: PublicKeys; now: number },
): Promise<VerifiedAccess | RefusedAccess> => {
  try {
    if (!isCanonical(token)) return INVALID;
    const key = keys.get(decodeProtectedHeader(token).kid ?? '');
    if (key === undefined || key.use !== 'session' || key.compromisedAt !== null) return INVALID;
    // Tokens that a key signed before it was retired have expired by then. A later signature is
    // forged.
    if (key.retiredAt !== null && now > key.retiredAt + ACCESS_TOKEN_SECONDS * 1000) return INVALID;
    const { payload } = await jwtVerify(token, key.key, {
      algorithms: ['EdDSA'],
      issuer: ISSUER,
      audience: AUDIENCE,
      currentDate: new Date(now),
      requiredClaims: ['jti'],
    });
    const claims = Payload.safeParse(payload);
    if (!claims.success || claims.data.env !== key.env) return INVALID;
    const { sub, sid, amr, auth_time, env, exp } = claims.data;
    return { accountId: sub, sessionId: sid, amr, authTime: auth_time, env, expiresAt: exp * 1000 };
  } catch (error) {
    // Thrown after the signature was verified.
    return error instanceof errors.JWTExpired && error.claim === 'exp'
      ? { expiredAt: Number(error.payload.exp) * 1000 }
      : INVALID;
  }
};

/** Whether `verifyAccessToken` has refused the token. */
export const isRefused = (access: VerifiedAccess | RefusedAccess): access is RefusedAccess =>
  'expiredAt' in access;
