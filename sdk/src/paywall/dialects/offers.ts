import {
  base64Url,
  canonicalJson,
  type HmacKey,
  hash,
  hmacKey,
  isSigned,
  jsonBase64Url,
  objectOfBase64,
  sign,
  utf8,
} from '../../checks/encoding.ts';
import { memoOf } from '../../checks/payment-memo.ts';
import { checkNames, MissingOptionError } from '../../options.ts';
import type { Transfers } from './transaction.ts';

/**
 * Stateless offers for clients of other protocols: `base64url(JSON).base64url(HMAC-SHA256)`. An
 * offer is the vendor's own statement of resource, transfers and expiry, with a nonce. So an unpaid
 * request costs no call, and the replicas need no store to recognise it. It has the hash of the
 * transfers, which clients return beside it. The payment's memo ends with the hash of the offer,
 * which binds a transaction to one offer. The offer has the text before it.
 */

/** How long an offer is valid. */
export const OFFER_SECONDS = 300;
/** How long an expired offer is accepted, for a buyer who repeats an undecided payment. */
const GRACE_SECONDS = 120;
/** An offer has 250 to 320 characters. A longer one is refused unread. */
const LONGEST_OFFER = 512;

const SHORTEST_SECRET = 32;

/**
 * Signs offers, shared by the replicas: at least 32 random characters. A list rotates it: the first
 * one signs, and the others are accepted until the offers that they have signed expire, seven
 * minutes after the first request.
 */
export type OfferSecret = string | readonly string[];

const isMissing = (secret: unknown): boolean => secret === undefined || secret === '';

/** @throws MissingOptionError, which the paywall of the dialect reports at its first request */
export const requireSecret = (secret: unknown): void => {
  if (isMissing(secret)) throw new MissingOptionError('secret is missing: openssl rand -hex 32 makes one');
};

/** @throws TypeError if a secret can be guessed from what it has signed */
export const checkSecret = (secret: unknown): void => {
  if (isMissing(secret)) return;
  const secrets: unknown[] = [secret].flat();
  if (
    secrets.length === 0 ||
    secrets.some((each) => typeof each !== 'string' || each.length < SHORTEST_SECRET)
  )
    throw new TypeError(
      `secret must be a text of at least ${SHORTEST_SECRET} characters: openssl rand -hex 32 makes one`,
    );
};

/** Signs texts, and accepts the signatures of earlier secrets while offers of theirs are valid. */
export const createSigner = (secret: OfferSecret, importKey: (secret: string) => Promise<HmacKey>) => {
  let begun: { keys: Promise<HmacKey[]>; at: number } | null = null;
  // Not before the first request, because workers allow no cryptography, and have no time, while
  // they load.
  const begin = () => {
    begun ??= { keys: Promise.all([secret].flat().map(importKey)), at: Date.now() };
    return begun;
  };
  return {
    sign: async (text: string): Promise<string> => sign((await begin().keys)[0]!, text),
    isSigned: async (text: string, mac: string): Promise<boolean> => {
      const { keys, at } = begin();
      const isRotating = Date.now() <= at + (OFFER_SECONDS + GRACE_SECONDS) * 1000;
      for (const key of (await keys).slice(0, isRotating ? undefined : 1))
        if (await isSigned(key, text, mac)) return true;
      return false;
    },
  };
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
  if (typeof options === 'object' && 'findTerms' in options)
    throw new TypeError(`dialects: call ${name}, as in [${name}({ secret })]`);
  checkNames(name, options, names);
};

export type CreatedOffer = {
  offer: string;
  /** At most 76 characters. */
  memo: string;
  /** Epoch seconds. */
  expiresAt: number;
};
export type PresentedOffer = {
  memo: string;
  isFor: (resource: string) => Promise<boolean>;
  isOf: (transfers: Transfers) => Promise<boolean>;
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
 * @param purpose names dialect and service
 */
export const createOffers = (secret: OfferSecret, purpose: string) => {
  const signer = createSigner(secret, (each) => deriveKey(each, purpose));
  return {
    /** @param text for the reader of the memo. Null: none */
    create: async (resource: string, transfers: Transfers, text: string | null): Promise<CreatedOffer> => {
      const expiresAt = Math.floor(Date.now() / 1000) + OFFER_SECONDS;
      const nonce = base64Url(crypto.getRandomValues(new Uint8Array(16)));
      const [r, t] = await Promise.all([hashOf(resource), hashOf(canonicalJson(transfers))]);
      const payload = jsonBase64Url({ r, t, e: expiresAt, n: nonce, ...(text !== null && { m: text }) });
      const offer = `${payload}.${await signer.sign(payload)}`;
      return { offer, memo: memoOf(text, await hashOf(offer)), expiresAt };
    },
    /** Null: not an offer of this paywall. */
    read: async (offer: unknown): Promise<PresentedOffer | null> => {
      if (typeof offer !== 'string' || offer.length > LONGEST_OFFER) return null;
      const [payload, mac, ...rest] = offer.split('.');
      if (payload === undefined || mac === undefined || rest.length > 0) return null;
      if (!(await signer.isSigned(payload, mac))) return null;
      type Payload = { r: string; t: string; e: number; m?: string };
      const { r, t, e, m = null } = objectOfBase64(payload) as Payload;
      return {
        memo: memoOf(m, await hashOf(offer)),
        isFor: async (resource) => (await hashOf(resource)) === r,
        isOf: async (transfers) => (await hashOf(canonicalJson(transfers))) === t,
        isExpired: () => Date.now() > (e + GRACE_SECONDS) * 1000,
      };
    },
  };
};
