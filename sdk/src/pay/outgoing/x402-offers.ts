import { jsonOf } from '../base/dialects.ts';
import type { X402Offer } from '../base/outgoing-offer.ts';
import { AMOUNT, decoded, MAX_ASKED, type OfferDialect } from './offer-dialect.ts';

/**
 * Offers of vendors that do not use Quittance, in the form of x402: the header PAYMENT-REQUIRED of
 * version 2, and the JSON body of version 1.
 */

type Requirement = X402Offer['requirement'];

/** The names of the networks in version 1 of x402, by their CAIP-2 ids. */
const V1_NAMES: Readonly<Record<string, string>> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'solana',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'solana-devnet',
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z': 'solana-testnet',
};
const HEADERS = {
  1: { payment: 'x-payment', response: 'x-payment-response' },
  2: { payment: 'payment-signature', response: 'payment-response' },
} as const;

const offersOf = (bill: unknown, version: 1 | 2): X402Offer[] => {
  const { x402Version, accepts } = (bill ?? {}) as { x402Version?: unknown; accepts?: unknown };
  if (x402Version !== version || !Array.isArray(accepts)) return [];
  return accepts
    .filter((each) => typeof each === 'object' && each !== null)
    .map((requirement) => ({ version, requirement: requirement as Requirement }));
};

const amountOf = ({ version, requirement }: X402Offer): unknown =>
  version === 1 ? requirement.maxAmountRequired : requirement.amount;

/**
 * Whether the API accepts a requirement of this length. JSON.stringify throws for one that is
 * nested more deeply than JSON.parse minds.
 */
const isShort = (requirement: Requirement): boolean => {
  try {
    return JSON.stringify(requirement).length <= MAX_ASKED;
  } catch {
    return false;
  }
};

/** Offers of x402: those of version 2 first. */
export const x402Offers: OfferDialect<X402Offer> = {
  rail: 'x402_out',
  read: async (response) => [
    ...offersOf(decoded(response.headers.get('payment-required')), 2),
    ...offersOf(await jsonOf(response), 1),
  ],
  isPayable: (offer, { x402_network, usdc_mint }) => {
    const { scheme, network, asset, payTo, extra } = offer.requirement as Partial<Requirement>;
    const amount = amountOf(offer);
    return (
      scheme === 'exact' &&
      network === (offer.version === 1 ? V1_NAMES[x402_network] : x402_network) &&
      asset === usdc_mint &&
      typeof payTo === 'string' &&
      typeof extra?.feePayer === 'string' &&
      typeof amount === 'string' &&
      AMOUNT.test(amount) &&
      isShort(offer.requirement)
    );
  },
  priceOf: (offer) => ({
    amount: amountOf(offer) as string,
    mint: offer.requirement.asset,
    payTo: offer.requirement.payTo,
  }),
  headers: ({ version }, payment) => ({ [HEADERS[version].payment]: payment }),
  statement: ({ version }) => HEADERS[version].response,
  asked: ({ version, requirement }) => ({ x402_version: version, requirement }),
};
