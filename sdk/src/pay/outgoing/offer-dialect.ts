import { objectOr } from '../../checks/encoding.ts';

/** What an offer is compared with of the request that it answers. */
export type Asking = { headers: Headers; body: { bytes: Uint8Array | null } };

/** The network and the mint of an environment, as the API publishes them. */
export type Network = { x402_network: string; usdc_mint: string };

/** A part of the amount of an offer, in micro-units, that is paid to somebody else. */
export type OfferedSplit = { pay_to: string; amount: string };

/** How vendors of another protocol ask for a payment, and how it is presented. */
export type OfferDialect<Offer> = {
  rail: 'x402_out' | 'mpp_out';
  /** The offers of a 402, in the vendor's order. */
  read: (response: Response) => Promise<Offer[]>;
  /** True if an offer is a price in the mint and on the network that the API serves. */
  isPayable: (offer: Offer, network: Network, call: Asking) => boolean | Promise<boolean>;
  /** Of a payable offer: micro-units, the mint, the vendor's address, and the parts of others. */
  priceOf: (offer: Offer) => {
    amount: string;
    mint: string;
    payTo: string;
    splits?: readonly OfferedSplit[];
  };
  /** The header that presents a payment. */
  headers: (offer: Offer, payment: string) => Record<string, string>;
  /** The header of an answer in which the vendor makes a statement about the settlement. */
  statement: (offer: Offer) => string;
  /** What a call of the API is told to pay. */
  asked: (offer: Offer) => object;
};

export const AMOUNT = /^[1-9][0-9]{0,18}$/;
export const MAX_HEADER = 65_536;
/** The API accepts no longer requirement, because the payment repeats it in a header. */
export const MAX_ASKED = 8192;

/** The JSON of a header in base64. Null if it is none. */
export const decoded = (header: string | null): unknown => {
  if (header === null || header.length > MAX_HEADER) return null;
  try {
    const plain = header.replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(plain), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
};

/** The fields of something that may be no object. */
export const fieldsOf = (value: unknown): Record<string, unknown> => objectOr(value) ?? {};
