import { boundedMap } from '../bounded-map.ts';
import { QuittanceError } from '../errors.ts';
import type { Output } from '../types.ts';

/**
 * Verifies compact tokens offline with the API's published keys:
 * base64url(payload).base64url(signature), Ed25519 over the ASCII of the first part. It uses
 * WebCrypto, which browsers, workers and Node have.
 */

export type Environment = 'test' | 'live';

/** The content of a quote token. Amounts in USDC micro-units, times ISO 8601 UTC. */
export type QuoteClaims = {
  typ: 'quote';
  kid: string;
  env: Environment;
  quote_id: string;
  vendor_account_id: string;
  service_id: string;
  service_name: string;
  /**
   * The vendor's domain, which its DNS had proven when the quote was signed. Absent: none is
   * proven. It is as people are shown it; `new URL('https://' + domain).hostname` is its ASCII
   * form.
   */
  service_domain?: string | undefined;
  payout_address: string;
  mint: string;
  quote_amount: string;
  fee_amount: string;
  currency: 'USDC';
  issued_at: string;
  expires_at: string;
  redeem_window_seconds: number;
  scope: Record<string, unknown> | null;
  /**
   * How a part of the amount is captured, which is a ceiling then. Absent: the whole amount is paid
   * when the quote is settled.
   */
  capture?: CaptureTerms | undefined;
  /**
   * The quote of an authorization whose ceiling this one extends by its amount. Everything else is
   * as that quote has it.
   */
  extends?: string | undefined;
};
/** What a metered quote says about its captures. */
type CaptureTerms = NonNullable<Output<'quote.create'>['capture']>;
export type SettlementClaims = {
  typ: 'settlement';
  kid: string;
  env: Environment;
  settlement_id: string;
  quote_id: string;
  service_id: string;
  quote_amount: string;
  issued_at: string;
  redeem_expires_at: string;
};
type Claims = { quote: QuoteClaims; settlement: SettlementClaims };

/** The token was not signed by the API for this type and environment. */
export class BadTokenError extends QuittanceError {
  override readonly name: string = 'BadTokenError';
}

export type TokenVerifier = <T extends keyof Claims>(typ: T, token: string) => Promise<Claims[T]>;
export type Keys = Output<'gateway.jwks'>['keys'];

const MAX_LENGTH = 16_384;
const KID = /^(test|live)\.(quote|settlement)\.[1-9][0-9]{0,5}$/;
const AMOUNT = /^[1-9][0-9]{0,18}$/;
/**
 * How long a key that the API removed stays valid here. Settle verifies every token again.
 */
const KEYS_LIVE_MS = 3_600_000;
/** Verified tokens that are remembered: each call of a prepaid route presents the same one. */
const MAX_VERIFIED = 1000;
/** Tokens with unknown keys must not cause a request each. */
const UNKNOWN_KEY_MS = 10_000;

/** The bytes of canonical base64url. @throws BadTokenError for any other text */
export const bytesOf = (part: string): Uint8Array<ArrayBuffer> => {
  let binary: string;
  try {
    binary = atob(part.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    throw new BadTokenError('the token is malformed');
  }
  // Only the canonical encoding is accepted. Without this check, unused bits of the last character
  // and padding could vary.
  const spelled = btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  if (spelled !== part) throw new BadTokenError('the token is not in canonical base64url');
  const bytes = new Uint8Array(binary.length);
  // A callback for each character takes twenty times as long.
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
};

/** A JSON object in UTF-8. @throws BadTokenError for anything else */
export const parse = (payload: Uint8Array): { [name: string]: unknown } => {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    if (typeof parsed === 'object' && parsed !== null) return parsed as { [name: string]: unknown };
  } catch {
    // Reported below.
  }
  throw new BadTokenError('the token is malformed');
};

/** Freezes what JSON made, because verified claims are remembered and returned again. */
const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
};

/** Tokens whose claims are remembered: each call of a tab or of a prepaid address reads them. */
const MAX_READ = 100;
const readClaims = boundedMap<QuoteClaims>(MAX_READ);

/** The claims of a token that was verified before. Nothing is checked. */
export const storedClaims = (token: string): QuoteClaims => {
  const known = readClaims.get(token);
  if (known !== undefined) return known;
  const claims = frozen(parse(bytesOf(token.split('.')[0]!))) as QuoteClaims;
  readClaims.set(token, claims);
  return claims;
};

/** Checks only the claims in use, so that a token with newer claims is accepted. */
const isQuote = (claims: { [name: string]: unknown }): boolean =>
  ['quote_id', 'service_id', 'service_name', 'payout_address', 'mint'].every(
    (name) => typeof claims[name] === 'string',
  ) &&
  AMOUNT.test(String(claims.quote_amount)) &&
  typeof claims.quote_amount === 'string' &&
  claims.currency === 'USDC' &&
  [claims.extends, claims.service_domain].every((it) => it === undefined || typeof it === 'string') &&
  !Number.isNaN(Date.parse(String(claims.expires_at))) &&
  typeof claims.scope === 'object';
const isSettlement = (claims: { [name: string]: unknown }): boolean =>
  ['settlement_id', 'quote_id', 'service_id'].every((name) => typeof claims[name] === 'string') &&
  !Number.isNaN(Date.parse(String(claims.redeem_expires_at)));
const SHAPES = { quote: isQuote, settlement: isSettlement };

/** What WebCrypto made of published keys. */
const imported = new WeakMap<Keys[number], ReturnType<typeof crypto.subtle.importKey>>();

const importOnce = (published: Keys[number]): ReturnType<typeof crypto.subtle.importKey> => {
  const known = imported.get(published);
  if (known !== undefined) return known;
  const { kty, crv, x } = published;
  const key = crypto.subtle.importKey('jwk', { kty, crv, x }, 'Ed25519', false, ['verify']);
  imported.set(published, key);
  return key;
};

/** Whether a published key signed the ASCII text. */
export const isSignedBy = async (
  published: Keys[number],
  signature: Uint8Array<ArrayBuffer>,
  text: string,
): Promise<boolean> => {
  const key = await importOnce(published);
  return crypto.subtle.verify('Ed25519', key, signature, new TextEncoder().encode(text));
};

/**
 * Whether a published key proves what it signed at a time, in epoch milliseconds. The thief of a
 * key writes any time into what he signs.
 */
export const isInForce = ({ retired_at, compromised_at }: Keys[number], issuedAt: number): boolean =>
  compromised_at === undefined && (retired_at === undefined || issuedAt <= Date.parse(retired_at));

/** Caches the API's keys by kid. Concurrent calls share one request. */
const keyCache = (load: () => Promise<Keys>) => {
  let held = new Map<string, Keys[number]>();
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;
  const ask = () => {
    asking ??= load()
      .then((keys) => {
        held = new Map(keys.map((key) => [key.kid, key]));
        askedAt = Date.now();
      })
      .finally(() => {
        asking = null;
      });
    return asking;
  };
  return async (kid: string): Promise<Keys[number] | undefined> => {
    if (Date.now() - askedAt > (held.has(kid) ? KEYS_LIVE_MS : UNKNOWN_KEY_MS)) await ask();
    return held.get(kid);
  };
};

/**
 * Verifies tokens of one environment and returns their claims, frozen. The caller checks times.
 * @param load loads the keys, `client.gateway.jwks({ environment })`; its errors are passed on
 * @throws BadTokenError for anything else: other type or environment, unknown key, a key that has
 * ended, altered bytes, other encoding
 */
export const createTokenVerifier = (environment: Environment, load: () => Promise<Keys>): TokenVerifier => {
  const keyOf = keyCache(load);
  /** By the whole token, with the key that verified it. Another key, or none, verifies it anew. */
  const verified = boundedMap<{ typ: keyof Claims; claims: { kid: string }; jwk: Keys[number] }>(
    MAX_VERIFIED,
  );
  return async <T extends keyof Claims>(typ: T, token: string): Promise<Claims[T]> => {
    const known = verified.get(token);
    if (known?.typ === typ && (await keyOf(known.claims.kid)) === known.jwk) return known.claims as Claims[T];
    const [payload, signature, ...rest] = token.slice(0, MAX_LENGTH + 1).split('.');
    if (token.length > MAX_LENGTH || payload === undefined || signature === undefined || rest.length > 0)
      throw new BadTokenError('the token is malformed');
    const [payloadBytes, signatureBytes] = [bytesOf(payload), bytesOf(signature)];
    const claims = parse(payloadBytes);
    const [, env, use] = KID.exec(String(claims.kid)) ?? [];
    if (env !== environment || use !== typ || claims.env !== environment || claims.typ !== typ)
      throw new BadTokenError(`not a ${typ} token of the ${environment} environment`);
    const jwk = await keyOf(claims.kid as string);
    if (jwk === undefined || jwk.env !== environment) throw new BadTokenError('the token’s key is not known');
    if (!(await isSignedBy(jwk, signatureBytes, payload)))
      throw new BadTokenError('the token signature is invalid');
    if (!SHAPES[typ](claims)) throw new BadTokenError(`not a ${typ} token`);
    if (!isInForce(jwk, Date.parse(String(claims.issued_at))))
      throw new BadTokenError('the token was signed by a key that is no longer in force');
    verified.set(token, { typ, claims: frozen(claims) as Claims[T], jwk });
    return claims as Claims[T];
  };
};
