import { type Call, canRepeat } from './call.ts';
import { ApiError, PaymentUndecidedError } from './errors.ts';
import { OPERATIONS } from './generated/operations.ts';
import type { CallOptions, Input, Output } from './types.ts';
import { backoffMs, sleep } from './wait.ts';

/**
 * Where the ids of payment attempts are kept before they are sent, so that a client that died in between goes on with the
 * same attempt. An entry may go once its settlement is redeemed or its quote's expiry is well past.
 */
export type AttemptStore = {
  /** Keeps the id for this quote token, durably, unless there is one: answers the one that stands. Atomic. */
  remember: (quoteToken: string, paymentAttemptId: string) => Promise<string> | string;
  /** Removes this id, and no other, of the quote token: it failed for good and no money moved. */
  forget: (quoteToken: string, paymentAttemptId: string) => Promise<void> | void;
};

export type SettleInput = Omit<Input<'settlement.settle'>, 'payment_attempt_id'> & {
  /** Yours to keep when given; otherwise minted, and kept in the client's attempt store. */
  payment_attempt_id?: string;
};
export type SettleOptions = CallOptions & {
  /** How long to go on asking, in milliseconds. Default 5 minutes. */
  patienceMs?: number;
};
/** A payment that is confirmed on chain, with the id of its attempt. */
export type Paid = Extract<Output<'settlement.settle'>, { status: 'confirmed' }> & {
  payment_attempt_id: string;
};
export type Settle = (input: SettleInput, options?: SettleOptions) => Promise<Paid>;

const PATIENCE_MS = 300_000;
/** While the API says that the payment is pending and not when to ask again. */
const PENDING_MS = 5000;
const MEMORY_ENTRIES = 1000;

/** Attempts in memory: settling the same quote again in this process asks for the same payment. The oldest of many goes. */
export const memoryAttempts = (): AttemptStore => {
  const held = new Map<string, string>();
  return {
    remember: (quoteToken, paymentAttemptId) => {
      const standing = held.get(quoteToken);
      if (standing !== undefined) return standing;
      // The API itself refuses a second payment of a quote: what is lost with an old entry is the way to its answer.
      if (held.size >= MEMORY_ENTRIES) held.delete(held.keys().next().value!);
      held.set(quoteToken, paymentAttemptId);
      return paymentAttemptId;
    },
    forget: (quoteToken, paymentAttemptId) => {
      if (held.get(quoteToken) === paymentAttemptId) held.delete(quoteToken);
    },
  };
};

/**
 * Settles a quote: the attempt's id is minted and kept before anything is sent, and every repeat carries it, until the
 * payment is confirmed or refused for good. Calling again with the same quote goes on with the same attempt.
 * @throws ApiError of its code when the attempt is refused; `moneyMoved` and `safeAction` say what that means
 * @throws PaymentUndecidedError when patience ended or the signal was aborted before it was decided
 */
export const createSettle =
  (call: Call, attempts: AttemptStore): Settle =>
  async (input, { signal, patienceMs = PATIENCE_MS } = {}) => {
    signal?.throwIfAborted();
    const { quote_token } = input;
    const id = input.payment_attempt_id ?? (await attempts.remember(quote_token, crypto.randomUUID()));
    const body = { quote_token, payment_attempt_id: id };
    const deadline = Date.now() + patienceMs;
    const undecided = (cause: unknown) => new PaymentUndecidedError(id, quote_token, cause);

    for (let tries = 0; ; tries += 1) {
      let waitMs: number;
      let cause: unknown;
      try {
        const received = await call(
          OPERATIONS.settlement.settle,
          body,
          signal === undefined ? {} : { signal },
        );
        const settled = received.body as Output<'settlement.settle'>;
        if (settled.status === 'confirmed') return { ...settled, payment_attempt_id: id };
        waitMs = received.retryAfterMs ?? PENDING_MS;
      } catch (error) {
        if (error instanceof ApiError) error.paymentAttemptId = id;
        if (!canRepeat(error)) {
          if (signal?.aborted) throw undecided(error);
          // Without "no" the attempt stays: a lapsed sign-in says nothing of what was sent before it.
          const failed = error instanceof ApiError && error.moneyMoved === 'no';
          if (failed && input.payment_attempt_id === undefined) await attempts.forget(quote_token, id);
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
