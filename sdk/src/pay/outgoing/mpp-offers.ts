import { ACCEPT_PAYMENT_HEADER, acceptsPayment } from '../../accept-payment.ts';
import { fromBase64, hash } from '../../checks/encoding.ts';
import { restOf } from '../../generated/payees.ts';
import type { MppOffer } from '../base/outgoing-offer.ts';
import {
  AMOUNT,
  type Asking,
  decoded,
  fieldsOf,
  MAX_ASKED,
  MAX_HEADER,
  type OfferDialect,
  type OfferedSplit,
} from './offer-dialect.ts';

/**
 * Offers of vendors that do not use Quittance, in the form of MPP: challenges of the scheme
 * `Payment` in WWW-Authenticate, of method `solana` and intent `charge`.
 */

const NAMES = new Set([
  'id',
  'realm',
  'method',
  'intent',
  'request',
  'description',
  'expires',
  'digest',
  'opaque',
  'header',
]);
const REQUIRED = ['realm', 'request'] as const;
/** What this client pays, in Accept-Payment and in challenges. */
const KIND = { method: 'solana', intent: 'charge' } as const;
export const ACCEPTED_PAYMENT = `${KIND.method}/${KIND.intent}`;
/** The only field besides Authorization in which a credential may be presented. */
const OWN_FIELD = 'Payment-Authorization';
/** The scheme of a challenge, or one of its parameters, or the comma between them. */
const TOKEN =
  /[\s,]*(?:([A-Za-z0-9_-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))|([A-Za-z0-9_-]+)(?=[\s,]|$))/y;

/** A quoted text. The packages of MPP write what is no Latin-1 as \uXXXX. */
const unquoted = (text: string): string =>
  text.replace(/\\(?:u([0-9A-Fa-f]{4})|(.))/g, (_all, code: string | undefined, plain: string) =>
    code === undefined ? plain : String.fromCharCode(Number.parseInt(code, 16)),
  );

/** The parameters of each challenge of the scheme Payment. One with a repeated name is left out. */
export const challengesIn = (header: string): Record<string, string>[] => {
  const found: Map<string, string>[] = [];
  const broken = new Set<Map<string, string>>();
  let current: Map<string, string> | null = null;
  let at = 0;
  while (at < header.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(header);
    if (match === null) {
      // The rest cannot be read, and may belong to this challenge.
      if (current !== null && /[^\s,]/.test(header.slice(at))) broken.add(current);
      break;
    }
    at = TOKEN.lastIndex;
    const [, name, quoted, plain, scheme] = match;
    if (scheme !== undefined) {
      current = scheme.toLowerCase() === 'payment' ? new Map() : null;
      if (current !== null) found.push(current);
    } else if (current !== null) {
      const key = name!.toLowerCase();
      if (current.has(key)) broken.add(current);
      current.set(key, quoted === undefined ? plain! : unquoted(quoted));
    }
  }
  return found.filter((each) => !broken.has(each)).map((each) => Object.fromEntries(each));
};

/**
 * A challenge that this client can answer. A header of the vendor's choice could be one that means
 * something else, so there is one besides Authorization.
 */
const offerOf = (parameters: Record<string, string>): MppOffer | null => {
  const { id, method, intent, header = OWN_FIELD } = parameters;
  if (method !== KIND.method || intent !== KIND.intent || header !== OWN_FIELD || !id) return null;
  if (REQUIRED.some((name) => parameters[name] === undefined)) return null;
  const own = Object.entries(parameters).filter(([name]) => NAMES.has(name));
  return { version: 'mpp', challenge: Object.fromEntries(own) as MppOffer['challenge'] };
};

const MAINNET = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
/** The networks of Solana in MPP, with the mint of USDC. The specification writes mainnet. */
export const USDC_MINTS: Readonly<Record<string, string>> = {
  mainnet: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  devnet: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
};
const networkIn = ({ network }: Record<string, unknown>): unknown =>
  network === undefined || network === 'mainnet-beta' ? 'mainnet' : network;
const isNetwork = (details: Record<string, unknown>, x402Network: string): boolean =>
  networkIn(details) === (x402Network === MAINNET ? 'mainnet' : 'devnet');

/** The mint of the currency, which may be the symbol. */
const mintOf = (currency: unknown, details: Record<string, unknown>): unknown =>
  currency === 'USDC' ? USDC_MINTS[String(networkIn(details))] : currency;

/** Whether a challenge is for the body of this call. */
const isForBody = async (digest: string | undefined, { body }: Pick<Asking, 'body'>): Promise<boolean> => {
  if (digest === undefined) return true;
  // RFC 9530 puts the base64 between colons.
  const [, text] = /^sha-256=:?([A-Za-z0-9+/=_-]+?):?$/.exec(digest) ?? [];
  const expected = text === undefined ? null : fromBase64(text);
  if (expected === null || body.bytes === null) return false;
  return (await hash(body.bytes)).join() === expected.join();
};

const requestIn = ({ challenge }: MppOffer) => {
  const request = fieldsOf(decoded(challenge.request));
  return { ...request, details: fieldsOf(request.methodDetails) } as Record<string, unknown> & {
    details: Record<string, unknown>;
  };
};

/** The splits of a challenge. Null: they are not in the form that the API pays. */
const splitsIn = ({ splits = [] }: Record<string, unknown>): OfferedSplit[] | null => {
  if (!Array.isArray(splits)) return null;
  const read = splits
    .map(fieldsOf)
    .map(({ recipient, amount }) =>
      typeof recipient === 'string' && typeof amount === 'string' && AMOUNT.test(amount)
        ? { pay_to: recipient, amount }
        : null,
    );
  return read.includes(null) ? null : (read as OfferedSplit[]);
};

/** Whether the splits can be read, and leave the recipient something. */
const hasPayees = (amount: string, details: Record<string, unknown>): boolean => {
  const splits = splitsIn(details);
  return splits !== null && restOf({ amount, splits }) > 0n;
};

const isShort = ({ challenge }: MppOffer): boolean =>
  [challenge.request, challenge.opaque ?? ''].every((text) => text.length <= MAX_ASKED) &&
  JSON.stringify(challenge).length <= MAX_HEADER;

/** Offers of MPP. */
export const mppOffers: OfferDialect<MppOffer> = {
  rail: 'mpp_out',
  read: async (response) => {
    const header = response.headers.get('www-authenticate');
    if (header === null || header.length > MAX_HEADER) return [];
    return challengesIn(header)
      .map(offerOf)
      .filter((offer) => offer !== null);
  },
  isPayable: async (offer, { x402_network, usdc_mint }, call) => {
    const { amount, currency, recipient, details } = requestIn(offer);
    const { feePayer, feePayerKey } = details;
    const { expires, digest } = offer.challenge;
    return (
      typeof amount === 'string' &&
      AMOUNT.test(amount) &&
      hasPayees(amount, details) &&
      mintOf(currency, details) === usdc_mint &&
      isNetwork(details, x402_network) &&
      typeof recipient === 'string' &&
      feePayer === true &&
      typeof feePayerKey === 'string' &&
      (expires === undefined || Date.parse(expires) > Date.now()) &&
      isShort(offer) &&
      // The payment would replace the caller's own credential.
      (offer.challenge.header === OWN_FIELD || !call.headers.has('authorization')) &&
      acceptsPayment(call.headers.get(ACCEPT_PAYMENT_HEADER), KIND) &&
      (await isForBody(digest, call))
    );
  },
  priceOf: (offer) => {
    const { amount, recipient, currency, details } = requestIn(offer);
    return {
      amount: amount as string,
      mint: mintOf(currency, details) as string,
      payTo: recipient as string,
      splits: splitsIn(details) ?? [],
    };
  },
  headers: ({ challenge }, payment) => ({ [(challenge.header ?? 'Authorization').toLowerCase()]: payment }),
  statement: () => 'payment-receipt',
  asked: ({ challenge }) => ({ challenge }),
};
