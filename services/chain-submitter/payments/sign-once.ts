import { ServiceError } from '../../../shared/contract/errors.ts';
import { batched } from '../../../shared/db/batched.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { findPaymentIntent, type IntentFinder } from '../ledger/find-payment-intent.ts';
import { type IntentRow, insertFailedPayment, listIntents } from '../ledger/store/intents.ts';
import { failureOf, PaymentRefusal, type Reason, type Refused } from './refusal.ts';

/**
 * A payment of a settlement, and what its rail does with it.
 * @typeParam S the answer with the signed bytes
 */
export type Payment<S> = {
  kind: 'incoming' | 'outgoing';
  intentId: string;
  settlementId: string;
  /** @throws ServiceError conflict when the intent is of another payment */
  compare: (intent: IntentRow) => Promise<void>;
  /** The answer with the bytes of an intent; null when nothing was signed for it. */
  answerSigned: (intent: IntentRow) => Promise<S | null>;
  /**
   * Signs and commits a payment without an intent; null when it has one by then.
   * @throws PaymentRefusal
   */
  signAndCommit: () => Promise<S | null>;
  /**
   * Adopts the payment if the chain has it and a restore has lost its record. Another answer than
   * `adopted` and `none` ends the call.
   */
  adoptLost: () => Promise<S | 'adopted' | 'none'>;
  /**
   * Whether the bytes are chosen here, so that a second signature would be a second payment. A lost
   * payment is then searched for before anything is signed. A buyer's message pays once in any
   * case, so only its refusal is checked.
   */
  choosesBytes: boolean;
  /** Whether the buyer signs after our fee payer. */
  signsLast?: boolean;
};

/** Reads an intent. Payments that arrive together share the statement. */
export type IntentReader = (intentId: string) => Promise<IntentRow | null>;
export const createIntentReader = (pool: Pool): IntentReader =>
  batched((intentIds: readonly string[]) => listIntents(pool, intentIds));

type Deps = IntentFinder & { readIntent: IntentReader };

/**
 * The answer for a payment that has an intent; null without one.
 * @typeParam R the reasons for which its rail refuses a payment
 */
const findAnswer = async <S, R extends Reason>(
  deps: Deps,
  { intentId, settlementId, compare, answerSigned }: Payment<S>,
): Promise<S | Refused<R> | null> => {
  const existing = await deps.readIntent(intentId);
  if (existing === null) return null;
  await compare(existing);
  const intent = (await findPaymentIntent(deps, intentId, settlementId)) ?? existing;
  const { reason } = intent.request as { reason?: R };
  return (
    (await answerSigned(intent)) ?? {
      outcome: 'refused',
      reason: reason ?? ('closed' as R),
      message: intent.failure_message ?? '',
    }
  );
};

/**
 * Makes a refusal final: a late repeat of the call finds it and signs nothing. A concurrent call
 * may have signed the payment, and the refusal may be its effect.
 */
const recordRefusal = async <S, R extends Reason>(
  deps: Deps,
  payment: Payment<S>,
  { reason, message }: PaymentRefusal<R>,
): Promise<S | Refused<R>> => {
  const { kind, intentId, settlementId, signsLast = false } = payment;
  const failure = failureOf(reason, message);
  const refused = { outcome: 'refused', reason, message } as const;
  const row = { intentId, settlementId, reason, failure, signsLast };
  if (await insertFailedPayment(deps.pool, kind, row)) return refused;
  return (await findAnswer<S, R>(deps, payment)) ?? refused;
};

const signNew = async <S, R extends Reason>(deps: Deps, payment: Payment<S>): Promise<S | Refused<R>> => {
  const lost = payment.choosesBytes ? await payment.adoptLost() : 'none';
  if (lost !== 'none' && lost !== 'adopted') return lost;
  const signed = lost === 'none' ? await payment.signAndCommit() : null;
  const answer = signed ?? (await findAnswer<S, R>(deps, payment));
  if (answer === null) throw new Error('The payment was not inserted and does not exist.');
  return answer;
};

/** Whether a refused payment is on the chain, and has an intent now. */
const isPaid = async <S>({ choosesBytes, adoptLost }: Payment<S>): Promise<boolean> =>
  !choosesBytes && (await adoptLost()) === 'adopted';

/**
 * Signs a payment once, whatever its rail: a repeated or concurrent call gets the same bytes or the
 * same refusal. No refusal is answered of a payment that the chain has, and no bytes after it.
 */
export const signOnce = async <S, R extends Reason>(
  deps: Deps,
  payment: Payment<S>,
): Promise<S | Refused<R>> => {
  const existing = await findAnswer<S, R>(deps, payment);
  if (existing !== null) return existing;
  try {
    return await signNew<S, R>(deps, payment);
  } catch (error) {
    if (error instanceof PaymentRefusal) {
      const paid = (await isPaid(payment)) ? await findAnswer<S, R>(deps, payment) : null;
      return paid ?? recordRefusal<S, R>(deps, payment, error as PaymentRefusal<R>);
    }
    // The chain may have refused the payment because a concurrent call has paid it.
    const late = error instanceof ServiceError ? await findAnswer<S, R>(deps, payment) : null;
    if (late === null) throw error;
    return late;
  }
};
