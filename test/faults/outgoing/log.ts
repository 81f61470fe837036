import { messageHashOf } from '../../../shared/lib/chain/wire-transaction.ts';
import { type Delivery, type Price, transactionOf } from '../../support/actors/outgoing.ts';
import type { Refusal } from '../../support/rules/refusals.ts';

/** The behaviours of test/interop/x402/scripted-facilitator.mjs. */
export const BEHAVIOURS = [
  'honest',
  'waits',
  'never-sends',
  'sends-late',
  'denies-payment',
  'lies',
  'names-another',
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** The delegate whose key pays. */
export type Payer = {
  accountId: string;
  delegateId: string;
  key: string;
  /** Owner of the wallet that pays. */
  owner: string;
};

/** An answer to one call of `POST /v1/payments`. */
export type Answer = {
  at: number;
  /**
   * `signed`: the bytes. `failed`: proof that nothing was or will be paid. `refused`: nothing
   * exists.
   */
  kind: 'signed' | 'failed' | 'refused' | 'unknown';
  /** Status of a signed payment, the code of a refusal, or why no answer arrived. */
  detail: string;
  signature: string | null;
  settlementId: string | null;
  transaction: string | null;
};

/** A vendor's answer to the bytes. `status` is null without one. */
type Shown = { at: number; behaviour: Behaviour; status: number | null; reason: string };

/** What a buyer wants to pay for once. */
export type Attempt = {
  number: number;
  id: string;
  payer: Payer;
  behaviour: Behaviour;
  payTo: string;
  /** Null: the vendor did not answer. */
  price: Price | null;
  answers: Answer[];
  deliveries: Shown[];
};

export const signedIn = ({ answers }: Attempt): Answer[] => answers.filter(({ kind }) => kind === 'signed');

/** The first bytes that the buyer was given. */
export const signatureOf = (attempt: Attempt): string | null => signedIn(attempt)[0]?.signature ?? null;

const hashes = new Map<string, string>();
/** The hash of the signed message in a value of PAYMENT-SIGNATURE. */
export const hashIn = (signature: string): string => {
  const known = hashes.get(signature);
  if (known !== undefined) return known;
  const { payload } = JSON.parse(Buffer.from(signature, 'base64').toString());
  const hash = messageHashOf(payload.transaction);
  if (hash === null) throw new Error('a signed payment holds no message');
  hashes.set(signature, hash);
  return hash;
};

/** Whether the buyer knows what became of its call. */
export const isAnswered = ({ answers }: Attempt): boolean => answers.some(({ kind }) => kind !== 'unknown');

export type Log = ReturnType<typeof createLog>;

/**
 * All attempts and answers, recorded independently of the system.
 * @param redeemed gets each transaction that was confirmed
 */
export const createLog = (redeemed: string[]) => {
  const attempts: Attempt[] = [];
  const refusals: Refusal[] = [];
  /** Transactions that an answer called confirmed or an honest vendor named. */
  const confirmed = new Set<string>();
  const isConfirmed = (transaction: string | null): void => {
    if (transaction === null || confirmed.has(transaction)) return;
    confirmed.add(transaction);
    redeemed.push(transaction);
  };
  return {
    attempts,
    refusals,
    confirmed,
    signed: (): number => attempts.filter((attempt) => signatureOf(attempt) !== null).length,
    begin: (of: Pick<Attempt, 'payer' | 'behaviour' | 'payTo'>): Attempt => {
      const id = crypto.randomUUID();
      const attempt: Attempt = {
        ...of,
        ...{ number: attempts.length + 1, id, price: null, answers: [], deliveries: [] },
      };
      attempts.push(attempt);
      return attempt;
    },
    answered: (attempt: Attempt, answer: Answer): void => {
      attempt.answers.push(answer);
      if (answer.detail === 'confirmed') isConfirmed(answer.transaction);
    },
    presented: (attempt: Attempt, behaviour: Behaviour, delivery: Delivery | null): void => {
      const { status, reason } = delivery ?? { status: null, reason: '' };
      attempt.deliveries.push({ at: Date.now(), behaviour, status, reason });
      if (status === 200 && behaviour === 'honest') isConfirmed(transactionOf(delivery!.receipt));
    },
  };
};
