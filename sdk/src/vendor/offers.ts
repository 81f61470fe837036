import {
  base64Url,
  type HmacKey,
  hash,
  hmacKey,
  isSigned,
  jsonBase64Url,
  objectOfBase64,
  sign,
  utf8,
} from '../encoding.ts';
import { checkNames } from '../options.ts';

/**
 * Stateless offers for clients of other protocols: `base64url(JSON).base64url(HMAC-SHA256)`. An
 * offer is the vendor's own statement of resource, amount and expiry, with a nonce. So an unpaid
 * request costs no call, and the replicas need no store to recognise it. The payment's memo is the
 * hash of the offer, which binds a transaction to one offer.
 */

/** How long an offer is valid. */
export const OFFER_SECONDS = 300;
/** How long an expired offer is accepted, for a buyer who repeats an undecided payment. */
const GRACE_SECONDS = 120;
/** An offer has about 190 characters. A longer one is refused unread. */
const LONGEST_OFFER = 512;

const SHORTEST_SECRET = 32;

/** @throws TypeError if a secret is missing, or can be guessed from what it has signed */
export const checkSecret = (secret: unknown): void => {
  if (typeof secret !== 'string' || secret.length < SHORTEST_SECRET)
    throw new TypeError(
      `secret must be a text of at least ${SHORTEST_SECRET} characters: openssl rand -hex 32 makes one`,
    );
};

/**
 * Checks the options of a dialect. A dialect that was not called gets the paywall instead of them.
 * @throws TypeError
 */
export const checkDialect = (
  name: string,
  options: object,
  names: { readonly [name: string]: true },
): void => {
  if ('findTerms' in options) throw new TypeError(`dialects: call ${name}, as in [${name}()]`);
  checkNames(name, options, names);
};

export type CreatedOffer = {
  offer: string;
  /** At most 64 characters. */
  memo: string;
  /** Epoch seconds. */
  expiresAt: number;
};
export type PresentedOffer = {
  memo: string;
  /** USDC micro-units. */
  amount: string;
  isFor: (resource: string) => Promise<boolean>;
  isExpired: () => boolean;
};

const hashOf = async (text: string): Promise<string> => base64Url(await hash(utf8(text)));

/** The key of one purpose, so that a secret that is used elsewhere signs nothing of this kind. */
const deriveKey = async (secret: string, purpose: string): Promise<HmacKey> => {
  const source = await crypto.subtle.importKey('raw', utf8(secret), 'HKDF', false, ['deriveBits']);
  const settings = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: utf8(purpose) };
  return hmacKey(new Uint8Array(await crypto.subtle.deriveBits(settings, source, 256)));
};

/**
 * The offers of one dialect of one service.
 * @param secret shared by the replicas
 * @param purpose names dialect and service
 */
export const createOffers = (secret: string, purpose: string) => {
  let derived: Promise<HmacKey> | null = null;
  // Not before the first request, because workers allow no cryptography while they load.
  const keyOf = () => {
    derived ??= deriveKey(secret, purpose);
    return derived;
  };
  return {
    create: async (resource: string, amount: string): Promise<CreatedOffer> => {
      const expiresAt = Math.floor(Date.now() / 1000) + OFFER_SECONDS;
      const nonce = base64Url(crypto.getRandomValues(new Uint8Array(16)));
      const payload = jsonBase64Url({ r: await hashOf(resource), a: amount, e: expiresAt, n: nonce });
      const offer = `${payload}.${await sign(await keyOf(), payload)}`;
      return { offer, memo: await hashOf(offer), expiresAt };
    },
    /** Null: not an offer of this paywall. */
    read: async (offer: unknown): Promise<PresentedOffer | null> => {
      if (typeof offer !== 'string' || offer.length > LONGEST_OFFER) return null;
      const [payload, mac, ...rest] = offer.split('.');
      if (payload === undefined || mac === undefined || rest.length > 0) return null;
      if (!(await isSigned(await keyOf(), payload, mac))) return null;
      const { r, a, e } = objectOfBase64(payload) as { r: string; a: string; e: number };
      return {
        memo: await hashOf(offer),
        amount: a,
        isFor: async (resource) => (await hashOf(resource)) === r,
        isExpired: () => Date.now() > (e + GRACE_SECONDS) * 1000,
      };
    },
  };
};
