import { hexHash } from '../../checks/encoding.ts';
import { failed, isRefusal, type Refusal } from '../base/answers.ts';
import type { Receipt } from '../base/deliveries.ts';
import { type Bill, isFixedPrice, type PaywallContext, type PresentedPayment } from '../base/dialect.ts';
import type { IncomingPayment, IncomingSettlement } from '../base/incoming-payments.ts';
import type { PresentedOffer } from './offers.ts';
import { readTransaction, type Transaction, type Transfers, wrongIn } from './transaction.ts';

/** The common part of the dialects whose clients sign a transaction: x402 and MPP. */

/** The API's limit for a resource. A longer one is not stored with the settlement. */
const LONGEST_RESOURCE = 2048;

/** What a payment is for. Without an offer it counts for any resource of this price. */
export type Asked = { transfers: Transfers; offer: PresentedOffer | null };
type IncomingCredential = {
  rail: IncomingPayment['rail'];
  transaction: unknown;
  /** What it pays, or why that is no offer of this paywall. */
  asked: Asked | Refusal;
  /** How long the buyer waits for the outcome. */
  waitMs: number;
  receiptOf: (settlement: IncomingSettlement) => Record<string, string>;
};

type Terms = Pick<IncomingPayment, 'quote_amount' | 'memo' | 'resource'>;

const amountOf = ({ legs }: Transfers): bigint => legs.reduce((sum, { amount }) => sum + BigInt(amount), 0n);

const termsOf = ({ transfers, offer }: Asked, resource: string): Terms => ({
  quote_amount: String(amountOf(transfers)),
  ...(offer === null ? {} : { memo: offer.memo }),
  ...(resource.length > LONGEST_RESOURCE ? {} : { resource }),
});

/** Why a transaction does not pay for a bill, or null. Nothing of it costs a call. */
const mismatch = async (
  { transfers, offer }: Asked,
  transaction: Transaction,
  bill: Bill,
): Promise<Refusal | null> => {
  const { resource, amount } = bill;
  // A settlement of these protocols is redeemed as a whole, so it cannot buy several requests.
  if (!isFixedPrice(bill)) return failed('other_resource');
  if (offer !== null && !(await offer.isFor(resource))) return failed('other_resource');
  if (amountOf(transfers) < BigInt(amount)) return failed('amount_too_small');
  if (offer?.isExpired()) return failed('offer_expired');
  const wrong = await wrongIn(transaction, transfers, offer?.memo ?? null);
  return wrong === null ? null : failed(wrong);
};

/** A credential as a payment of a request. */
export const presentIncoming = async (
  { accept }: PaywallContext,
  { rail, transaction, asked, waitMs, receiptOf }: IncomingCredential,
  { resource }: Bill,
): Promise<PresentedPayment | Refusal> => {
  const read = typeof transaction === 'string' ? readTransaction(transaction) : null;
  if (read === null) return failed('invalid_payload');
  return {
    // Signatures do not count, so a changed empty slot gives no second identity.
    id: await hexHash(read.message),
    isWhole: true,
    ...(isRefusal(asked) ? {} : { order: termsOf(asked, resource) }),
    mismatch: async (bill) => (isRefusal(asked) ? asked : mismatch(asked, read, bill)),
    take: async (_bill, { id, order }): Promise<Receipt | 'spent' | Refusal> => {
      const terms = order as Terms;
      const payment = { rail, transaction: transaction as string, redeem_id: id, ...terms };
      const accepted = await accept(payment, waitMs);
      if (accepted === 'spent' || !('settlement_id' in accepted)) return accepted;
      const { settlement_id: paymentId, payer_address: payer } = accepted;
      return { paymentId, payer, headers: receiptOf(accepted) };
    },
  };
};
