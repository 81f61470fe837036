import { type Call, canRepeat } from './call.ts';
import { ApiError, NoAnswerError, PaidElsewhereError, PaymentUndecidedError } from './errors.ts';
import { NotFoundError } from './generated/errors.ts';
import { OPERATIONS } from './generated/operations.ts';
import type { CallOptions, Input, Output } from './types.ts';
import { backoffMs, sleep } from './wait.ts';

/**
 * Stores the ids of payment attempts before they are sent, so that a client that crashed continues
 * with the same attempt. An entry may be removed once its settlement is redeemed, or well after its
 * quote's expiry.
 */
export type AttemptStore = {
  /**
   * Stores the id for this quote token durably, unless one exists. Returns the stored id. Atomic.
   */
  getOrInsert: (quoteToken: string, paymentAttemptId: string) => Promise<string> | string;
  /**
   * Removes this id of the quote token, and no other. It has finally failed, and no money moved.
   */
  remove: (quoteToken: string, paymentAttemptId: string) => Promise<void> | void;
};

export type SettleInput = Omit<Input<'settlement.settle'>, 'payment_attempt_id'> & {
  /** Your own id, which you store. Otherwise one is generated and stored in the attempt store. */
  payment_attempt_id?: string;
};
export type SettleOptions = CallOptions & {
  /** How long to repeat the call, in milliseconds. Default 5 minutes. */
  patienceMs?: number;
};
/**
 * A payment that is confirmed on chain, or of a quote with `capture` an authorization, with the id
 * of its attempt. The id differs from the sent one if the account had paid before.
 */
export type Paid = Extract<Output<'settlement.settle'>, { status: 'confirmed' | 'authorized' }> & {
  payment_attempt_id: string;
};
export type Settle = (input: SettleInput, options?: SettleOptions) => Promise<Paid>;

const PATIENCE_MS = 300_000;
/** The pause while the payment is pending, if the API names none. */
const PENDING_MS = 5000;
const MEMORY_ENTRIES = 1000;

/**
 * Attempts in memory: settling the same quote again in this process repeats the same attempt. The
 * oldest entry is dropped.
 */
export const memoryAttempts = (): AttemptStore => {
  const held = new Map<string, string>();
  return {
    getOrInsert: (quoteToken, paymentAttemptId) => {
      const existing = held.get(quoteToken);
      if (existing !== undefined) return existing;
      // The API refuses a second payment of a quote, so without the entry only its answer is lost.
      if (held.size >= MEMORY_ENTRIES) held.delete(held.keys().next().value!);
      held.set(quoteToken, paymentAttemptId);
      return paymentAttemptId;
    },
    remove: (quoteToken, paymentAttemptId) => {
      if (held.get(quoteToken) === paymentAttemptId) held.delete(quoteToken);
    },
  };
};

/** GET /v1/settlements/:id with the client's credential. */
export type ReadSettlement = (
  input: { settlement_id: string },
  options: CallOptions,
) => Promise<Output<'settlement.get'>>;

/**
 * Reads the settlement of the account that a refusal names.
 * @returns the payment; null if it is not decided, or failed so that the quote can be settled again
 * @throws PaidElsewhereError if this credential may not read it
 */
const readPayment = async (
  read: ReadSettlement,
  settlement_id: string,
  options: CallOptions,
): Promise<Paid | null> => {
  const found = await read({ settlement_id }, options);
  const { settlement_token, payment_attempt_id, tx_hash, redeem_expires_at, authorization } = found;
  if (settlement_token === undefined || payment_attempt_id === undefined) return null;
  if (found.status === 'authorized' && authorization !== undefined) {
    const { max_amount, capture_ends_at } = authorization;
    const open = { status: 'authorized', tx_hash: null, max_amount, capture_ends_at } as const;
    return { settlement_id, settlement_token, payment_attempt_id, ...open };
  }
  if (tx_hash === null || redeem_expires_at === null) return null;
  return {
    settlement_id,
    settlement_token,
    status: 'confirmed',
    tx_hash,
    redeem_expires_at,
    ...(found.superseded_tx_hashes?.length ? { superseded_tx_hashes: found.superseded_tx_hashes } : {}),
    payment_attempt_id,
  };
};

/**
 * Settles a quote. The attempt's id is generated and stored before anything is sent. Every repeat
 * carries it, until the payment is confirmed or finally refused, or authorized if the quote has
 * `capture`. Another call with the same quote
 * continues the same attempt. If the account has paid the quote by another attempt, that settlement
 * is returned.
 * @throws ApiError of its code if the attempt is refused; see `moneyMoved` and `safeAction`
 * @throws PaidElsewhereError if the account has paid the quote by a settlement that this credential
 * may not read
 * @throws PaymentUndecidedError if `patienceMs` passed or the signal was aborted before the outcome
 */
export const createSettle =
  (call: Call, attempts: AttemptStore, read: ReadSettlement): Settle =>
  async (input, { signal, patienceMs = PATIENCE_MS } = {}) => {
    signal?.throwIfAborted();
    const { quote_token } = input;
    const id = input.payment_attempt_id ?? (await attempts.getOrInsert(quote_token, crypto.randomUUID()));
    const body = { quote_token, payment_attempt_id: id };
    const deadline = Date.now() + patienceMs;
    const options = signal === undefined ? {} : { signal };
    let wasSent = false;
    const undecided = (cause: unknown) =>
      Object.assign(new PaymentUndecidedError(id, quote_token, cause), { wasSent });
    const settle = async () => {
      try {
        const received = await call(OPERATIONS.settlement.settle, body, options);
        wasSent = true;
        const settled = received.body as Output<'settlement.settle'>;
        const paid = settled.status === 'pending' ? null : { ...settled, payment_attempt_id: id };
        return { paid, waitMs: received.retryAfterMs ?? PENDING_MS };
      } catch (error) {
        if (error instanceof ApiError) error.paymentAttemptId = id;
        wasSent ||= !(error instanceof NoAnswerError) || error.wasSent;
        throw error;
      }
    };
    const follow = async (refusal: ApiError, settlementId: string) => {
      try {
        return { paid: await readPayment(read, settlementId, options), waitMs: PENDING_MS };
      } catch (error) {
        if (error instanceof NotFoundError)
          throw new PaidElsewhereError(settlementId, id, quote_token, refusal);
        if (canRepeat(error)) throw error;
        throw undecided(refusal);
      }
    };

    for (let tries = 0; ; tries += 1) {
      let waitMs: number;
      let cause: unknown;
      try {
        const settled = await settle().catch((error: unknown) => {
          if (!(error instanceof ApiError) || error.safeAction !== 'read_settlement') throw error;
          if (error.settlementId === null) throw error;
          return follow(error, error.settlementId);
        });
        if (settled.paid !== null) return settled.paid;
        waitMs = settled.waitMs;
      } catch (error) {
        if (!canRepeat(error)) {
          if (signal?.aborted) throw undecided(error);
          // Without "no" the attempt remains: after a refusal of the sign-in the outcome of earlier
          // calls is unknown.
          const failed = error instanceof ApiError && error.moneyMoved === 'no';
          if (failed && input.payment_attempt_id === undefined) await attempts.remove(quote_token, id);
          throw error;
        }
        cause = error;
        waitMs = error.retryAfterMs ?? backoffMs(tries);
      }
      if (Date.now() + waitMs > deadline) throw undecided(cause);
      await sleep(waitMs, signal).catch((reason: unknown) => {
        throw undecided(reason);
      });
    }
  };
