import { objectOr } from '../../../sdk/src/checks/encoding.ts';
import { isMemoOf } from '../../../sdk/src/checks/payment-memo.ts';
import { isResourceOf } from '../../../sdk/src/checks/resource.ts';
import {
  BadTokenError,
  bytesOf,
  createTokenVerifier,
  type Keys,
  parse,
  type QuoteClaims,
} from '../../../sdk/src/checks/tokens.ts';
import { type PageOrder, readPageOrder } from '../../../sdk/src/payment-page.ts';
import { loadPublishedKeys } from '../lib/published-keys.ts';
import { TEXTS } from './texts.ts';
import type { Terms } from './wallets/by-wallet.ts';

/**
 * Reads the order in the page's address, which anyone can have written. What the page shows, and
 * what a wallet signs, comes from the signed quote alone.
 */

/** An offer of x402 that asks for what the quote asks for. */
type Offer = Terms & {
  /** As the vendor's 402 has it. A payment returns it whole. */
  accepted: Record<string, unknown>;
};
export type Order = {
  token: string;
  claims: QuoteClaims;
  back: string;
  /** Null: only an account can pay. */
  offer: Offer | null;
  reason: string | null;
  /** Until when an account can pay it, and a wallet. Epoch milliseconds. */
  expiresAt: number;
  offerExpiresAt: number;
};
export type Read = { order: Order } | { problem: string };

const CHAINS: Record<string, Offer['chain']> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'solana:mainnet',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'solana:devnet',
};
/** A vendor's offer to wallets is valid for five minutes, which begin before the page is shown. */
const OFFER_MS = 285_000;
const recordOf = (value: unknown) => objectOr(value) ?? {};

/** The offer, if a payment of it pays exactly the quote, and its memo says nothing else. */
const offerIn = (given: unknown, claims: QuoteClaims, back: string): Offer | null => {
  const accepted = recordOf(given);
  const { feePayer, memo, offer } = recordOf(accepted.extra);
  const chain = CHAINS[String(accepted.network)];
  const isSame =
    accepted.scheme === 'exact' &&
    accepted.asset === claims.mint &&
    accepted.payTo === claims.payout_address &&
    accepted.amount === claims.quote_amount;
  if (!isSame || chain === undefined || typeof offer !== 'string') return null;
  if (typeof feePayer !== 'string' || typeof memo !== 'string') return null;
  // The wallet shows the memo.
  if (!isMemoOf(memo, { amount: claims.quote_amount, resource: back })) return null;
  return { accepted, feePayer, memo, chain };
};

/** The environment that a token names. Its signature decides whether that is true. */
const environmentIn = (token: string): 'test' | 'live' => {
  try {
    return parse(bytesOf(token.split('.')[0]!)).env === 'live' ? 'live' : 'test';
  } catch {
    return 'test';
  }
};

const orderOf = ({ quote, back, offer, reason }: PageOrder, claims: QuoteClaims, now: number): Read => {
  // The quote is signed for one resource, so the payment returns to its vendor and to nobody else.
  if (!/^https?:\/\/[^#]*$/i.test(back) || !URL.canParse(back) || !isResourceOf(claims.scope?.resource, back))
    return { problem: TEXTS.otherAddress };
  // A pack of requests has no offer for wallets.
  const offered = claims.scope?.units === undefined ? offerIn(offer, claims, back) : null;
  const expiresAt = Date.parse(claims.expires_at);
  const offerExpiresAt = Math.min(expiresAt, now + OFFER_MS);
  return {
    order: { token: quote, claims, back, offer: offered, reason: reason ?? null, expiresAt, offerExpiresAt },
  };
};

/** @param keys loads the public keys of the API */
export const readOrder = async (fragment: string, now: number, keys = loadPublishedKeys): Promise<Read> => {
  const given = readPageOrder(fragment);
  if (given === null) return { problem: TEXTS.noOrder };
  let published: Keys;
  try {
    published = await keys();
  } catch {
    return { problem: TEXTS.noKeys };
  }
  try {
    const verify = createTokenVerifier(environmentIn(given.quote), async () => published);
    return orderOf(given, await verify('quote', given.quote), now);
  } catch (error) {
    return { problem: error instanceof BadTokenError ? TEXTS.badQuote : TEXTS.oldBrowser };
  }
};
