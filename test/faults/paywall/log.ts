import { messageHashOf } from '../../../shared/lib/chain/wire-transaction.ts';
import type { MessageRefusal } from '../checks/message-refusals.ts';

/** The payment protocols of one 402. */
export const DIALECTS = ['quittance', 'x402', 'mpp'] as const;
type Dialect = (typeof DIALECTS)[number];

/** An answer of the shop. `status` is null without one. */
export type Answer = { askedAt: number; at: number; status: number | null; body: string };

/**
 * A transaction that a client of x402 or MPP has signed. Its message identifies it for ever.
 * `headers` present it.
 */
export type Payment = {
  hash: string;
  headers: Record<string, string>;
  purchase: Purchase;
  answers: Answer[];
};

/** What a buyer wants once. A client of x402 or MPP signs another payment for each 402. */
export type Purchase = {
  number: number;
  dialect: Dialect;
  /** Owner of the wallet that pays. */
  buyer: string;
  path: string;
  payments: Payment[];
  /** Of calls with a payment. The paying fetch of Quittance makes several of them in one. */
  answers: Answer[];
};

export const isDelivered = ({ answers }: Purchase): boolean => answers.some(({ status }) => status === 200);

/** The answers that made a client give the payment up: it signs another one. */
export const refusalsOf = ({ answers }: Payment): Answer[] => answers.filter(({ status }) => status === 402);

/** Whether the buyer knows what became of its payment. */
export const isDecided = ({ answers }: Payment): boolean =>
  answers.some(({ status }) => status === 200 || status === 402);

/** What an attacker did to the quotes of the shop. */
type Poisoned = {
  /** Quotes whose reference the platform's own transaction names. */
  quotes: Set<string>;
  /** Answers to payments that name a reference. */
  named: { transaction: string; success: boolean; reason: string }[];
  givenUp: number;
};

export type Log = ReturnType<typeof createLog>;

/** All purchases, payments and answers, recorded independently of the system. */
export const createLog = () => {
  const purchases: Purchase[] = [];
  const payments: Payment[] = [];
  /** How often the handler ran, by path. */
  const runs = new Map<string, number>();
  /** What the API has refused to the shop. */
  const refusals: MessageRefusal[] = [];
  const poisoned: Poisoned = { quotes: new Set(), named: [], givenUp: 0 };
  return {
    poisoned,
    refusals,
    refused: (transaction: string, refusal: Omit<MessageRefusal, 'hash'>): void => {
      const hash = messageHashOf(transaction);
      if (hash !== null) refusals.push({ ...refusal, hash });
    },
    /** Buyers who moved their money away while payments were in flight. */
    emptied: new Set<string>(),
    purchases,
    payments,
    runs,
    begin: (dialect: Dialect, buyer: string): Purchase => {
      const number = purchases.length + 1;
      const purchase: Purchase = {
        ...{ number, dialect, buyer, payments: [], answers: [] },
        path: `/${dialect === 'quittance' ? 'fixed' : 'goods'}/${number}`,
      };
      purchases.push(purchase);
      return purchase;
    },
    signed: (purchase: Purchase, transaction: string, headers: Record<string, string>): Payment => {
      const hash = messageHashOf(transaction);
      if (hash === null) throw new Error('a buyer signed bytes that hold no message');
      const payment: Payment = { hash, headers, purchase, answers: [] };
      purchase.payments.push(payment);
      payments.push(payment);
      return payment;
    },
    answered: (purchase: Purchase, payment: Payment | null, answer: Answer): void => {
      purchase.answers.push(answer);
      payment?.answers.push(answer);
    },
    ran: (path: string): number => {
      const count = (runs.get(path) ?? 0) + 1;
      runs.set(path, count);
      return count;
    },
    delivered: (): number => purchases.filter(isDelivered).length,
  };
};
