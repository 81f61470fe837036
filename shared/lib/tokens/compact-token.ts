import type { z } from 'zod';
import { invalid, ofAnotherVersion } from '../../contract/errors.ts';
import { LONGEST_QUOTE_SECONDS } from '../../contract/quote/operations.ts';
import { QuoteClaims, SettlementClaims } from '../../contract/tokens.ts';
import { signBytes, verifyBytes } from '../chain/ed25519.ts';
import { isInForce, type PublicKey, type PublicKeys, type SigningKey } from './keys.ts';

/**
 * Compact tokens: base64url(payload).base64url(signature), Ed25519 over the ASCII characters of the
 * first part (docs/spec/interface.md, Quote; docs/spec/decisions.md, Quote). These characters are
 * signed, so nothing is canonicalised.
 */
type Claims = { quote: QuoteClaims; settlement: SettlementClaims };
const SCHEMAS: { [T in keyof Claims]: z.ZodType<Claims[T]> } = {
  quote: QuoteClaims,
  settlement: SettlementClaims,
};
type TokenType = keyof Claims;
type Unsigned<T extends TokenType> = Omit<Claims[T], 'kid' | 'typ'>;

/** Signs claims with the current key. The same claims and key give the same token. */
export const signToken = <T extends TokenType>(
  typ: T,
  claims: Unsigned<T>,
  { kid, key }: SigningKey,
): string => {
  const payload = Buffer.from(JSON.stringify({ typ, kid, ...claims })).toString('base64url');
  return `${payload}.${Buffer.from(signBytes(Buffer.from(payload, 'ascii'), key)).toString('base64url')}`;
};

/** The claims of a quote token from the service's records. It was verified before it was stored. */
export const storedClaims = (token: string): QuoteClaims =>
  JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString('utf8')) as QuoteClaims;

/**
 * The unverified claims of a token, for a search in the service's records: it may have been paid
 * before its key was removed. Null if it is no token of this type.
 */
export const unverifiedClaims = <T extends TokenType>(typ: T, token: string): Claims[T] | null => {
  try {
    const payload = Buffer.from(token.split('.')[0]!, 'base64url').toString('utf8');
    return SCHEMAS[typ].safeParse(JSON.parse(payload)).data ?? null;
  } catch {
    return null;
  }
};

const KID = /^(test|live)\.(quote|settlement)\.[0-9]+$/;

/**
 * Why a token is refused whose key is not of this environment and use. The message depends only on
 * the kid that was sent.
 */
const foreignToken = (typ: TokenType, kid: unknown, env: string): string => {
  const [, ofEnv, use] = KID.exec(String(kid)) ?? [];
  if (use !== undefined && use !== typ) return `is a ${use} token; send the ${typ} token`;
  if (ofEnv !== undefined && ofEnv !== env)
    return `is a token of the environment ${ofEnv}, and the credential is of ${env}; use both of one environment`;
  return `is not a ${typ} token of this environment`;
};

/** The environment of accepted tokens, and its public keys. */
export type TokenOptions = { env: string; keys: PublicKeys };

/** The clocks of the signer and of whoever retires its key may differ by this. */
const SKEW_MS = 60_000;

/**
 * Whether the key of a verified token is in force for it. What the holder of a retired key dates
 * back ends with the longest quote: an honest one of that time has expired by then.
 */
const isOfKeyInForce = (key: PublicKey, claims: QuoteClaims | SettlementClaims): boolean => {
  if (!isInForce(key, Date.parse(claims.issued_at))) return false;
  if (claims.typ !== 'quote' || key.retiredAt === null) return true;
  return Date.parse(claims.expires_at) <= key.retiredAt + LONGEST_QUOTE_SECONDS * 1000 + SKEW_MS;
};

/** A token whose signature matches. Its claims are had for a purpose only. */
type ReadToken<T extends TokenType> = {
  /** Null: its key is not in force for it, so nothing new may be done for it. */
  claimsFor(purpose: 'newPayment'): Claims[T] | null;
  /** To find and describe what may have been done while the key was in force. */
  claimsFor(purpose: 'followUp'): Claims[T];
};

/**
 * The verified claims of a token of this type and environment.
 * @throws ServiceError validation_error for another type, another environment, an unknown key, a
 *   key that has ended, or altered bytes; service_unavailable for claims of another version
 */
export const verifyToken = <T extends TokenType>(typ: T, token: string, options: TokenOptions): Claims[T] => {
  const claims = readToken(typ, token, options).claimsFor('newPayment');
  if (claims !== null) return claims;
  throw invalid(`${typ}_token`, `was signed by a key that is no longer in force; get a new ${typ}`);
};

/**
 * As `verifyToken`, also for a key that has ended. For what follows up a payment that may have been
 * made while the key was in force.
 * @throws ServiceError validation_error for another type, another environment, an unknown key, or
 *   altered bytes; service_unavailable for claims of another version
 */
export const readToken = <T extends TokenType>(
  typ: T,
  token: string,
  { env, keys }: TokenOptions,
): ReadToken<T> => {
  const refuse = (message: string): never => {
    throw invalid(`${typ}_token`, message);
  };
  const decode = (part: string): Buffer => {
    const bytes = Buffer.from(part, 'base64url');
    // Only the canonical encoding is accepted: base64url has several for the same bytes (padding
    // bits), and a cache must not treat one quote as two.
    if (bytes.toString('base64url') !== part) refuse('is not in canonical base64url; send it unchanged');
    return bytes;
  };
  const [payload, signature, ...rest] = token.split('.');
  if (payload === undefined || signature === undefined || rest.length > 0)
    return refuse('is malformed; send it unchanged');
  const [payloadBytes, signatureBytes] = [decode(payload), decode(signature)];
  let parsed: unknown;
  try {
    parsed = JSON.parse(payloadBytes.toString('utf8'));
  } catch {
    return refuse('is malformed; send it unchanged');
  }
  const kid = (parsed as { kid?: unknown } | null)?.kid;
  const key = typeof kid === 'string' ? keys.get(kid) : undefined;
  if (key === undefined || key.env !== env || key.use !== typ) return refuse(foreignToken(typ, kid, env));
  if (!verifyBytes(Buffer.from(payload, 'ascii'), signatureBytes, key.key))
    return refuse('was changed: its signature does not match; send it unchanged');
  const claims = SCHEMAS[typ].safeParse(parsed);
  // We have signed it, so the version that did knows the claims. What they mean is not guessed: a
  // term that is left out could be the one that makes the payment cheaper.
  if (!claims.success) throw ofAnotherVersion();
  if (claims.data.env !== env) return refuse(`is not a ${typ} token of this environment`);
  const { data } = claims;
  const claimsFor = (purpose: 'newPayment' | 'followUp') =>
    purpose === 'followUp' || isOfKeyInForce(key, data) ? data : null;
  return { claimsFor: claimsFor as ReadToken<T>['claimsFor'] };
};
