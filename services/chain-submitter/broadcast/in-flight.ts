import type { Order } from '../ledger/model/order.ts';
import type { ClaimedIntent, IntentRow } from '../ledger/store/intents.ts';
import type { Change } from '../ledger/transition.ts';
import { createPollInterval } from './poll-interval.ts';

/** Bytes are sent again after this time (docs/design/settle.md, rule 10). */
export const REBROADCAST_MS = 2000;

/** Committed bytes that may still be included, and what was last observed of them. */
export type InFlightTransaction = {
  intent: Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'traceparent'>;
  /** Null when the job can no longer be read, for example because a key was removed. */
  order: Order | null;
  generation: number;
  signature: string;
  /** Empty for an adopted transaction, which needs no sending. */
  wire: Uint8Array;
  lastValidBlockHeight: number;
  phase: 'sent' | 'confirmed';
  slot: number | null;
  /**
   * Process times (performance.now) of the first broadcast, the next poll and the next broadcast.
   */
  broadcastAt: number;
  pollAt: number;
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

/** Signed bytes of an intent's generation. */
type Bytes = { signature: string; wire: Uint8Array; lastValidBlockHeight: number; generation: number };

type IntentState = Pick<
  ClaimedIntent,
  'intent_id' | 'kind' | 'object_id' | 'traceparent' | 'status' | 'slot'
>;

/** The in-flight transaction of an intent's committed bytes. */
export const toInFlight = (
  { intent_id, kind, object_id, traceparent, ...intent }: IntentState,
  order: Order | null,
  bytes: Bytes,
): InFlightTransaction => ({
  // Only these fields of the intent are stored, because thousands may wait for finality.
  intent: { intent_id, kind, object_id, traceparent },
  order,
  ...bytes,
  phase: intent.status === 'confirmed' ? 'confirmed' : 'sent',
  slot: intent.status === 'confirmed' && intent.slot !== null ? Number(intent.slot) : null,
  broadcastAt: performance.now(),
  pollAt: 0,
  sendAt: performance.now() + REBROADCAST_MS,
  isSignedPublished: kind !== 'settle' && kind !== 'incoming',
  // An adopted transaction may be older than a provider's status cache, so its first poll searches
  // the history.
  missedPolls: bytes.wire.length === 0 ? 1 : 0,
  unansweredReads: 0,
  processed: false,
  doubtedAt: null,
  disputed: false,
});

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
    add: (transaction: InFlightTransaction): void => {
      byIntent.set(transaction.intent.intent_id, transaction);
      wake(transaction.pollAt);
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
    /** Polls an intent's bytes and sends them again at the next opportunity. */
    pollNow: (intentId: string): void => {
      const transaction = byIntent.get(intentId);
      if (!transaction) return;
      // A transaction whose observation is being written is polled right after the write.
      if (Number.isFinite(transaction.pollAt)) transaction.pollAt = 0;
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

/** The change that an in-flight transaction means for its intent. */
export const toChange = ({ intent, generation, signature, slot }: InFlightTransaction): Change => ({
  intent,
  generation,
  signature,
  ...(slot === null ? {} : { slot }),
});
