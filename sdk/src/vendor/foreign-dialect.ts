import { fromBase64, hexHash } from '../encoding.ts';
import { failed, type Refusal } from './answers.ts';
import type { Receipt } from './deliveries.ts';
import type { Bill, PaywallContext, Presented } from './dialect.ts';
import type { ForeignPayment, ForeignSettlement } from './foreign-payments.ts';
import type { PresentedOffer } from './offers.ts';

/** The common part of the dialects whose clients sign a transaction: x402 and MPP. */

/** The API's limit for a transaction. Base64 of the longest one of Solana. */
const LONGEST_TRANSACTION = 1644;
const SIGNATURE_BYTES = 64;
/** The API's limit for a resource. A longer one is not stored with the settlement. */
const LONGEST_RESOURCE = 2048;

/**
 * SHA-256 of the message of a wire transaction, in hexadecimal. Signatures do not count, so a
 * changed empty slot gives no second identity. Null: no transaction.
 */
const messageHashOf = async (transaction: string): Promise<string | null> => {
  if (transaction.length > LONGEST_TRANSACTION || !/^[A-Za-z0-9+/]+={0,2}$/.test(transaction)) return null;
  const wire = fromBase64(transaction);
  const signatures = wire?.[0] ?? 0;
  const message = wire?.subarray(1 + signatures * SIGNATURE_BYTES);
  if (signatures < 1 || signatures > 127 || !message?.length) return null;
  return hexHash(message);
};

type ForeignCredential = {
  rail: 'x402' | 'mpp';
  transaction: unknown;
  /**
   * The offer that it pays, or why there is none. Null: a client that returns none, which pays
   * today's price.
   */
  offer: PresentedOffer | Refusal | null;
  /** How long the buyer waits for the outcome. */
  waitMs: number;
  receiptOf: (settlement: ForeignSettlement) => Record<string, string>;
};

type Terms = Pick<ForeignPayment, 'quote_amount' | 'memo' | 'resource'>;

/** Why an offer does not pay for a bill, or null. */
const mismatch = async (offer: PresentedOffer, { resource, amount }: Bill): Promise<Refusal | null> => {
  if (!(await offer.isFor(resource))) return failed('other_resource');
  if (BigInt(offer.amount) < BigInt(amount)) return failed('amount_too_small');
  return offer.isExpired() ? failed('offer_expired') : null;
};

/** A credential as a payment of a request. */
export const presentForeign = async (
  { accept }: PaywallContext,
  { rail, transaction, offer, waitMs, receiptOf }: ForeignCredential,
  { resource, amount }: Bill,
): Promise<Presented | Refusal> => {
  const id = typeof transaction === 'string' ? await messageHashOf(transaction) : null;
  if (id === null) return failed('invalid_payload');
  const order: Terms = {
    ...(offer !== null && 'memo' in offer
      ? { quote_amount: offer.amount, memo: offer.memo }
      : { quote_amount: amount }),
    ...(resource.length > LONGEST_RESOURCE ? {} : { resource }),
  };
  return {
    id,
    isWhole: true,
    order,
    mismatch: async (bill) => {
      // A settlement of these protocols is redeemed as a whole, so it cannot buy several requests.
      if (bill.units !== null) return failed('other_resource');
      if (offer === null || 'status' in offer) return offer;
      return mismatch(offer, bill);
    },
    take: async (_bill, taking): Promise<Receipt | 'spent' | Refusal> => {
      const terms = taking.order as Terms;
      const payment = { rail, transaction: transaction as string, redeem_id: taking.id, ...terms };
      const accepted = await accept(payment, waitMs);
      if (accepted === 'spent' || !('settlement_id' in accepted)) return accepted;
      return { paymentId: accepted.settlement_id, headers: receiptOf(accepted) };
    },
  };
};
