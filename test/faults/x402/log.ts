import type { Keypair } from '@solana/web3.js';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { messageHashOf } from '../../../shared/lib/chain/wire-transaction.ts';
import { refusalIn } from '../../support/rules/refusals.ts';
import type { FeePayer } from '../fee-payer.ts';
import type { Rng } from '../rng.ts';

/**
 * What a stock vendor understands of an answer to settle. `failure`: the buyer gets a new 402, and
 * signs another payment. `other`: the vendor asked by other terms than the payment was made for,
 * and heard that it moved money or may. `refunded`: the payment was made and given back, so its
 * buyer has paid for nothing. `unknown`: not of x402 or no answer, which becomes 502 at the buyer.
 */
type Kind = 'success' | 'pending' | 'duplicate' | 'failure' | 'other' | 'refunded' | 'unknown';

export type Success = { settlementId: string; handOutId: string };

/** An answer to one call of settle. */
export type Answer = {
  askedAt: number;
  at: number;
  /** The process that was asked. */
  gateway: string;
  status: number | null;
  kind: Kind;
  /** The reason of a failure, or why no answer arrived. */
  reason: string;
  transaction: string | null;
  /** Of a success: its settlement, and the hand-out that it is. */
  success: Success | null;
  /** What its error says about the money; undefined without an error. */
  moneyMoved: string | undefined;
};

/** A signed payment. Its message identifies it for ever. */
export type Payment = {
  hash: string;
  /** What it was signed for. */
  offer: Offer;
  payload: PaymentPayload;
  purchase: Purchase;
  answers: Answer[];
  /** Hand-outs after which the vendor has asked for another success. */
  reissued: Set<string>;
  /** When its vendor asked for a refund of the whole amount first; undefined: never. */
  refundAskedAt?: number;
};

/** A service of a vendor. A new key replaces the one before. */
export type Service = { id: string; apiKey: string };
/** What a vendor asks for at a moment. */
export type Offer = { service: Service; requirements: PaymentRequirements };
/** By which terms a payment is settled: those of its own offer, or those of today. */
type Asking = 'own' | 'today';

/** A stock vendor: what it requires, and how it settles a payment once. */
export type Vendor = {
  name: string;
  accountId: string;
  /** Of today. */
  offer: () => Offer;
  /** All that it ever had. */
  services: readonly Service[];
  payouts: readonly Keypair[];
  /** Null: it never pays its fees. */
  fees: FeePayer | null;
  settle: (payment: Payment, asking?: Asking) => Promise<Answer>;
  /** Changes something of its configuration. */
  change: (rng: Rng) => Promise<void>;
};

/** What a buyer wants once. It may sign several payments for it, one after the other. */
export type Purchase = { number: number; buyer: string; vendor: Vendor; payments: Payment[] };

type Body = { success?: boolean; errorReason?: string };

/**
 * @param body the JSON of the answer; null without JSON
 * @param asksOther whether the call asked by other terms than the payment was made for
 */
export const kindOf = (body: Body | null, asksOther: boolean): Kind => {
  if (body?.success === undefined) return 'unknown';
  if (body.success) return 'success';
  if (body.errorReason === 'settlement_pending') return 'pending';
  if (body.errorReason === 'facilitator_payment_refunded') return 'refunded';
  // To another service the reason is the same.
  if (body.errorReason === 'duplicate_settlement') return asksOther ? 'other' : 'duplicate';
  return asksOther && refusalIn(body)?.moneyMoved !== 'no' ? 'other' : 'failure';
};

type SuccessBody = { extra?: { quittance?: { settlement_id: string; hand_out_id: string } } };

/** Which success an answer is; null for another answer. */
export const successIn = (body: Body & SuccessBody): Success | null => {
  const { quittance } = body.extra ?? {};
  return body.success === true && quittance
    ? { settlementId: quittance.settlement_id, handOutId: quittance.hand_out_id }
    : null;
};

/** What a payment moves when it is included. */
export const priceOf = ({ offer }: Payment): bigint => BigInt(offer.requirements.amount);

export const successesOf = ({ answers }: Payment): Answer[] =>
  answers.filter(({ kind }) => kind === 'success');

/** Whether the vendor has an answer that decides about the payment. */
export const isDecided = ({ answers }: Payment): boolean =>
  answers.some(({ kind }) => ['success', 'duplicate', 'failure', 'refunded'].includes(kind));

/** What a buyer has signed, and for what. */
export type Signed = { payload: PaymentPayload; offer: Offer };

export type Log = ReturnType<typeof createLog>;

/**
 * All purchases, payments and answers, recorded independently of the system.
 * @param redeemed gets the transaction of each payment that was delivered
 */
export const createLog = (redeemed: string[]) => {
  const purchases: Purchase[] = [];
  const payments: Payment[] = [];
  const answers: Answer[] = [];
  let delivered = 0;
  return {
    /** Buyers who moved their money away while payments were in flight. */
    emptied: new Set<string>(),
    purchases,
    payments,
    answers,
    /** How many successes were answered. */
    delivered: () => delivered,
    begin: (buyer: string, vendor: Vendor): Purchase => {
      const purchase: Purchase = { number: purchases.length + 1, buyer, vendor, payments: [] };
      purchases.push(purchase);
      return purchase;
    },
    signed: (purchase: Purchase, { payload, offer }: Signed): Payment => {
      const hash = messageHashOf(String(payload.payload.transaction));
      if (hash === null) throw new Error('a buyer signed bytes that hold no message');
      const payment: Payment = { hash, offer, payload, purchase, answers: [], reissued: new Set() };
      purchase.payments.push(payment);
      payments.push(payment);
      return payment;
    },
    answered: (payment: Payment, answer: Answer): void => {
      payment.answers.push(answer);
      answers.push(answer);
      if (answer.kind !== 'success' || answer.transaction === null) return;
      delivered += 1;
      redeemed.push(answer.transaction);
    },
  };
};
