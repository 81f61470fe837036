import type { PaymentPayload } from '@x402/core/types';
import { messageHashOf } from '../../../services/settlement/foreign-payments/message-hash.ts';

/**
 * What a stock vendor understands of an answer to settle. `failure`: the buyer gets a new 402, and
 * signs another payment. `unknown`: no JSON or no answer, which becomes 502 at the buyer.
 */
type Kind = 'success' | 'pending' | 'duplicate' | 'failure' | 'unknown';

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
  /** What its error says about the money; undefined without an error. */
  moneyMoved: string | undefined;
};

/** A signed payment. Its message identifies it for ever. */
export type Payment = {
  hash: string;
  payload: PaymentPayload;
  purchase: Purchase;
  answers: Answer[];
};

/** What a buyer wants once. It may sign several payments for it, one after the other. */
export type Purchase = { number: number; buyer: string; payTo: string; payments: Payment[] };

type Body = { success?: boolean; errorReason?: string; errorMessage?: string; transaction?: string };

/** @param body the JSON of the answer; null without JSON */
export const kindOf = (body: Body | null): Kind => {
  if (body === null) return 'unknown';
  if (body.success === true) return 'success';
  if (body.errorReason === 'settlement_pending') return 'pending';
  return body.errorReason === 'duplicate_settlement' ? 'duplicate' : 'failure';
};

export const successesOf = ({ answers }: Payment): Answer[] =>
  answers.filter(({ kind }) => kind === 'success');

/** Whether the vendor has an answer that decides about the payment. */
export const isDecided = ({ answers }: Payment): boolean =>
  answers.some(({ kind }) => kind === 'success' || kind === 'duplicate' || kind === 'failure');

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
    purchases,
    payments,
    answers,
    /** How many successes were answered. */
    delivered: () => delivered,
    begin: (buyer: string, payTo: string): Purchase => {
      const purchase: Purchase = { number: purchases.length + 1, buyer, payTo, payments: [] };
      purchases.push(purchase);
      return purchase;
    },
    signed: (purchase: Purchase, payload: PaymentPayload): Payment => {
      const hash = messageHashOf(String(payload.payload.transaction));
      if (hash === null) throw new Error('a buyer signed bytes that hold no message');
      const payment: Payment = { hash, payload, purchase, answers: [] };
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
