import { isIncomplete } from '../../../shared/lib/chain/wire-transaction.ts';
import type { Order } from '../ledger/model/order.ts';
import type { Bytes } from '../ledger/store/commit-signed.ts';
import type { IntentRow } from '../ledger/store/intents.ts';
import { type Schedule, schedules } from './model/schedule.ts';
import { createPollInterval } from './poll-interval.ts';

/** Bytes are sent again after this time (docs/design/settle.md, rule 10). */
export const REBROADCAST_MS = 2000;

/** Committed bytes that may still be included, and what was last observed of them. */
export type InFlightTransaction = Bytes & {
  intent: Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'traceparent'>;
  /** Null when the job can no longer be read, for example because a key was removed. */
  order: Order | null;
  phase: 'sent' | 'confirmed';
  slot: number | null;
  /** When it is polled next. Only this file changes it. */
  schedule: Schedule;
  /** Process times (performance.now) of the first broadcast and of the next one. */
  broadcastAt: number;
  sendAt: number;
  /** Whether the event that these bytes are signed was published. */
  isSignedPublished: boolean;
  /**
   * Polls in a row that did not find an included transaction. The next polls search the history.
   */
  missedPolls: number;
  /** Reads of a finalized transaction's balances that no provider answered. */
  unansweredReads: number;
  /**
   * A provider has processed it, so the next poll queries the other providers in the same moment.
   */
  processed: boolean;
  /** Since when the providers do not agree (performance.now); null while they agree. */
  doubtedAt: number | null;
  /** Whether the alarm about the disagreement was raised. */
  disputed: boolean;
};

/**
 * Whether this process sends the bytes. It has none of an adopted transaction, and a buyer that
 * signs last sends its transaction itself.
 */
export const isSendable = ({ wire }: Pick<InFlightTransaction, 'wire'>): boolean =>
  wire.length > 0 && !isIncomplete(wire);

/** A transaction of which nothing is being written. */
type Pollable = InFlightTransaction & { schedule: Extract<Schedule, { state: 'due' }> };

/** The in-flight transaction of an intent's committed bytes. */
export const toInFlight = (
  { intent_id, kind, object_id, traceparent }: InFlightTransaction['intent'],
  order: Order | null,
  { generation, signature, wire, lastValidBlockHeight }: Bytes,
): InFlightTransaction => ({
  // Only these fields of the intent are stored, because thousands may wait for finality.
  intent: { intent_id, kind, object_id, traceparent },
  order,
  generation,
  signature,
  wire,
  lastValidBlockHeight,
  phase: 'sent',
  slot: null,
  schedule: { state: 'due', at: 0 },
  broadcastAt: performance.now(),
  sendAt: performance.now() + REBROADCAST_MS,
  isSignedPublished: kind !== 'settle' && kind !== 'incoming',
  // An adopted transaction may be older than a provider's status cache, so its first poll searches
  // the history.
  missedPolls: wire.length === 0 ? 1 : 0,
  unansweredReads: 0,
  processed: false,
  doubtedAt: null,
  disputed: false,
});

/** Plans the next poll of a transaction. One that is being written is planned when that ends. */
export const planPoll = (transaction: InFlightTransaction, at: number): void => {
  if (schedules.next(transaction.schedule.state, 'plan') !== null)
    transaction.schedule = { state: 'due', at };
};

/** Begins to write a transaction. False when something of it is being written already. */
const beginWriting = (transaction: InFlightTransaction): boolean => {
  if (schedules.next(transaction.schedule.state, 'write') === null) return false;
  transaction.schedule = { state: 'writing' };
  return true;
};

/**
 * Runs work on transactions that are not polled meanwhile. One on which other work runs is left
 * out, so that the end of one does not make the other's transaction due.
 * @param work gets the transactions that are not left out, and is not called without one
 * @param next the time of the next poll of each, whether the work succeeds or fails
 */
export const writing = async (
  transactions: readonly InFlightTransaction[],
  work: (begun: readonly InFlightTransaction[]) => Promise<void>,
  next: (transaction: InFlightTransaction) => number,
): Promise<void> => {
  const begun = transactions.filter(beginWriting);
  if (begun.length === 0) return;
  try {
    await work(begun);
  } finally {
    for (const transaction of begun) transaction.schedule = { state: 'due', at: next(transaction) };
  }
};

/**
 * The intents that this process executes at the moment, in memory only. What is lost with the
 * process is found again in the tables by the sweeper.
 */
export type InFlightTransactions = ReturnType<typeof createInFlightTransactions>;

export const createInFlightTransactions = () => {
  /** The value is null while an intent has no bytes in flight yet. */
  const byIntent = new Map<string, InFlightTransaction | null>();
  let wake = (_pollAt: number) => {};
  return {
    pollInterval: createPollInterval(),
    /** Registers an intent. False when it is registered already. */
    begin: (intentId: string): boolean => {
      if (byIntent.has(intentId)) return false;
      byIntent.set(intentId, null);
      return true;
    },
    /** @param pollAt the time of the first poll */
    add: (transaction: InFlightTransaction, pollAt: number): void => {
      planPoll(transaction, pollAt);
      byIntent.set(transaction.intent.intent_id, transaction);
      wake(pollAt);
    },
    end: (intentId: string): void => {
      byIntent.delete(intentId);
    },
    has: (intentId: string): boolean => byIntent.has(intentId),
    /** Whether these bytes are still the intent's. An answer about older bytes is void. */
    isCurrent: (transaction: InFlightTransaction): boolean =>
      byIntent.get(transaction.intent.intent_id) === transaction,
    intentIds: (): string[] => [...byIntent.keys()],
    list: (): InFlightTransaction[] => [...byIntent.values()].filter((transaction) => transaction !== null),
    /** The transactions that may be polled, due or not. */
    listPollable: (): Pollable[] =>
      [...byIntent.values()].filter(
        (transaction): transaction is Pollable => transaction?.schedule.state === 'due',
      ),
    /** Polls an intent's bytes and sends them again at the next opportunity. */
    pollNow: (intentId: string): void => {
      const transaction = byIntent.get(intentId);
      if (!transaction) return;
      planPoll(transaction, 0);
      transaction.sendAt = 0;
      wake(0);
    },
    /**
     * @param listener is called with the next poll time of a transaction that was added or hurried
     */
    onWake: (listener: (pollAt: number) => void): void => {
      wake = listener;
    },
  };
};
