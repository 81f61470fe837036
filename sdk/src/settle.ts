import { type Call, canRepeat } from './call.ts';
import { ApiError, PaidElsewhereError, PaymentUndecidedError } from './errors.ts';
import { NotFoundError } from './generated/errors.ts';
import { OPERATIONS } from './generated/operations.ts';
import type { CallOptions, Input, Output } from './types.ts';
import { backoffMs, sleep } from './wait.ts';

/**
 * Where the ids of payment attempts are kept before they are sent, so that a client that died in between goes on with the
 * same attempt. An entry may go once its settlement is redeemed or its quote's expiry is well past.
 */
export type AttemptStore = {
  /** Keeps the id for this quote token, durably, unless there is one: answers the one that stands. Atomic. */
  getOrInsert: (quoteToken: string, paymentAttemptId: string) => Promise<string> | string;
  /** Removes this id, and no other, of the quote token: it failed for good and no money moved. */
  remove: (quoteToken: string, paymentAttemptId: string) => Promise<void> | void;
};

export type SettleInput = Omit<Input<'settlement.settle'>, 'payment_attempt_id'> & {
  /** Yours to keep when given; otherwise minted, and kept in the client's attempt store. */
  payment_attempt_id?: string;
};
export type SettleOptions = CallOptions & {
  /** How long to go on asking, in milliseconds. Default 5 minutes. */
  patienceMs?: number;
};
/**
 * A payment that is confirmed on chain, with the id of its attempt: another one than was sent where
 * the account had paid before.
 */
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
    getOrInsert: (quoteToken, paymentAttemptId) => {
      const existing = held.get(quoteToken);
      if (existing !== undefined) return existing;
      // The API itself refuses a second payment of a quote: what is lost with an old entry is the way to its answer.
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
 * Goes where a refusal leads that names a settlement of the account.
 * @returns the payment; null when it is not decided, or failed so that the quote can be settled
 * again
 * @throws PaidElsewhereError when this credential may not read it
 */
const readPayment = async (
  read: ReadSettlement,
  settlement_id: string,
  options: CallOptions,
): Promise<Paid | null> => {
  const found = await read({ settlement_id }, options);
  const { settlement_token, payment_attempt_id, tx_hash, redeem_expires_at } = found;
  if (settlement_token === undefined || payment_attempt_id === undefined) return null;
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
 * Settles a quote: the attempt's id is minted and kept before anything is sent, and every repeat
 * carries it, until the payment is confirmed or refused for good. Calling again with the same quote
 * goes on with the same attempt. Where the account has paid the quote by another attempt, that
 * settlement is the answer.
 * @throws ApiError of its code when the attempt is refused; `moneyMoved` and `safeAction` say what
 * that means
 * @throws PaidElsewhereError when the account has paid the quote by a settlement that this
 * credential may not read
 * @throws PaymentUndecidedError when patience ended or the signal was aborted before it was decided
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
    const undecided = (cause: unknown) => new PaymentUndecidedError(id, quote_token, cause);
    const settle = async () => {
      try {
        const received = await call(OPERATIONS.settlement.settle, body, options);
        const settled = received.body as Output<'settlement.settle'>;
        const paid = settled.status === 'confirmed' ? { ...settled, payment_attempt_id: id } : null;
        return { paid, waitMs: received.retryAfterMs ?? PENDING_MS };
      } catch (error) {
        if (error instanceof ApiError) error.paymentAttemptId = id;
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
          // Without "no" the attempt stays: a lapsed sign-in says nothing of what was sent before it.
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
