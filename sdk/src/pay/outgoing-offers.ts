import type { Input } from '../types.ts';
import { jsonOf } from './dialects.ts';
import type { Price } from './price.ts';

/**
 * Offers of vendors that do not use Quittance, in the form of x402: the header PAYMENT-REQUIRED of
 * version 2, and the JSON body of version 1.
 */

type Requirement = Input<'settlement.payExternal'>['requirement'];
/** One entry of `accepts` of a 402, unchanged, because the payment repeats it. */
export type OutgoingOffer = { version: 1 | 2; requirement: Requirement };

/** The network and the mint of an environment, as the API publishes them. */
export type Network = { x402_network: string; usdc_mint: string };

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
const AMOUNT = /^[1-9][0-9]{0,18}$/;
const TRANSACTION = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const MAX_HEADER = 65_536;
/** The API accepts no longer requirement, because the payment repeats it in a header. */
const MAX_REQUIREMENT = 8192;

/** The JSON of a header in base64. Null if it is none. */
const decoded = (header: string | null): unknown => {
  if (header === null || header.length > MAX_HEADER) return null;
  try {
    const bytes = Uint8Array.from(atob(header), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
};

const offersOf = (bill: unknown, version: 1 | 2): OutgoingOffer[] => {
  const { x402Version, accepts } = (bill ?? {}) as { x402Version?: unknown; accepts?: unknown };
  if (x402Version !== version || !Array.isArray(accepts)) return [];
  return accepts
    .filter((each) => typeof each === 'object' && each !== null)
    .map((requirement) => ({ version, requirement: requirement as Requirement }));
};

/** The offers of x402 in a 402, in the vendor's order, those of version 2 first. */
export const readOffers = async (response: Response): Promise<OutgoingOffer[]> => [
  ...offersOf(decoded(response.headers.get('payment-required')), 2),
  ...offersOf(await jsonOf(response), 1),
];

const amountOf = ({ version, requirement }: OutgoingOffer): unknown =>
  version === 1 ? requirement.maxAmountRequired : requirement.amount;

/**
 * Whether the API accepts a requirement of this length. JSON.stringify throws for one that is
 * nested more deeply than JSON.parse minds.
 */
const isShort = (requirement: Requirement): boolean => {
  try {
    return JSON.stringify(requirement).length <= MAX_REQUIREMENT;
  } catch {
    return false;
  }
};

/** True if an offer is an exact price in the mint and on the network that the API serves. */
export const isPayable = (offer: OutgoingOffer, { x402_network, usdc_mint }: Network): boolean => {
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
};

/** The price of a payable offer for an address. */
export const priceOf = (offer: OutgoingOffer, url: string): Price => ({
  quote_amount: amountOf(offer) as string,
  mint: offer.requirement.asset,
  payout_address: offer.requirement.payTo,
  service_name: new URL(url).host,
  service_id: null,
  quote_id: null,
});

/** The header that presents a payment. */
export const offerHeaders = ({ version }: OutgoingOffer, payment: string): Record<string, string> => ({
  [HEADERS[version].payment]: payment,
});

/** The vendor's statement about the settlement in its answer. Null if it makes none. */
export const readPaymentResponse = ({ version }: OutgoingOffer, response: Response): string | null => {
  const header = response.headers.get(HEADERS[version].response);
  return header === null || header === '' || header.length > MAX_REQUIREMENT ? null : header;
};

/** The transaction that a vendor names. Its word, so it is no proof. */
export const transactionOf = (paymentResponse: string | null): string | null => {
  const { success, transaction } = (decoded(paymentResponse) ?? {}) as Record<string, unknown>;
  return success === true && typeof transaction === 'string' && TRANSACTION.test(transaction)
    ? transaction
    : null;
};
