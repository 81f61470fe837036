import { payeesOf } from '../../generated/payees.ts';
import type { OutgoingOffer } from '../base/outgoing-offer.ts';
import type { Price } from '../base/price.ts';
import { mppOffers } from './mpp-offers.ts';
import {
  AMOUNT,
  type Asking,
  decoded,
  fieldsOf,
  MAX_ASKED,
  type Network,
  type OfferDialect,
} from './offer-dialect.ts';
import { x402Offers } from './x402-offers.ts';

/** Offers of vendors that do not use Quittance, of all protocols. */
const DIALECTS = [x402Offers, mppOffers] as unknown as readonly OfferDialect<OutgoingOffer>[];
const dialectOf = ({ version }: OutgoingOffer): OfferDialect<OutgoingOffer> =>
  DIALECTS[version === 'mpp' ? 1 : 0]!;

/** The offers of a 402: those of x402 first, each in the vendor's order. */
const readOffers = async (response: Response): Promise<OutgoingOffer[]> =>
  (await Promise.all(DIALECTS.map((dialect) => dialect.read(response)))).flat();

/** How a payment of an offer is recorded. */
export const railOf = (offer: OutgoingOffer): 'x402_out' | 'mpp_out' => dialectOf(offer).rail;

/** The price of a payable offer for an address. */
export const priceOf = (offer: OutgoingOffer, url: string): Price => {
  const { amount, mint, payTo, splits } = dialectOf(offer).priceOf(offer);
  return {
    quote_amount: amount,
    mint,
    payout_address: payTo,
    payees: payeesOf({ pay_to: payTo, amount, splits }),
    service_name: new URL(url).host,
    service_id: null,
    quote_id: null,
    rail: railOf(offer),
  };
};

/** The amount of an offer. Null: it has none in micro-units. */
const amountOf = (offer: OutgoingOffer): bigint | null => {
  const { amount } = dialectOf(offer).priceOf(offer) as { amount: unknown };
  return typeof amount === 'string' && AMOUNT.test(amount) ? BigInt(amount) : null;
};

/**
 * The offers of a 402 that the API can pay, the cheapest first.
 * @param below only those of less than this amount
 */
export const payableOffers = async (
  response: Response,
  {
    call,
    readNetwork,
    below,
  }: { call: Asking; readNetwork: () => Promise<Network | null>; below?: bigint | undefined },
): Promise<OutgoingOffer[]> => {
  const offers = (await readOffers(response)).filter((offer) => {
    const amount = amountOf(offer);
    return amount !== null && (below === undefined || amount < below);
  });
  const network = offers.length === 0 ? null : await readNetwork();
  if (network === null) return [];
  const isPayable = await Promise.all(
    offers.map((offer) => dialectOf(offer).isPayable(offer, network, call)),
  );
  return offers
    .filter((_offer, index) => isPayable[index])
    .sort(
      (one, other) => Number(amountOf(one)! > amountOf(other)!) - Number(amountOf(one)! < amountOf(other)!),
    );
};

/** What a call of the API is told to pay. */
export const askedOf = (offer: OutgoingOffer): object => dialectOf(offer).asked(offer);

/** The header that presents a payment. */
export const offerHeaders = (offer: OutgoingOffer, payment: string): Record<string, string> =>
  dialectOf(offer).headers(offer, payment);

/** The vendor's statement about the settlement in its answer. Null if it makes none. */
export const readPaymentResponse = (offer: OutgoingOffer, response: Response): string | null => {
  const header = response.headers.get(dialectOf(offer).statement(offer));
  return header === null || header === '' || header.length > MAX_ASKED ? null : header;
};

const TRANSACTION = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

/** The transaction that a vendor names. Its word, so it is no proof. */
export const transactionOf = (statement: string | null): string | null => {
  const { success, transaction, status, reference } = fieldsOf(decoded(statement));
  // The second form is a receipt of MPP.
  const named = success === true ? transaction : status === 'success' ? reference : null;
  return typeof named === 'string' && TRANSACTION.test(named) ? named : null;
};
