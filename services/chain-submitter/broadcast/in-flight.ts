import type { Order } from '../intents/model/order.ts';
import type { IntentRow } from '../intents/store/intents.ts';
import { createPollInterval } from './poll-interval.ts';

/** Committed bytes that may land, and what was last seen of them. */
export type InFlightTransaction = {
  intent: Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'traceparent'>;
  /** Null when the job can no longer be read (a key was taken out): the bytes are watched all the same. */
  order: Order | null;
  generation: number;
  signature: string;
  /** Empty for a transaction that was found under its reference: it needs no sending. */
  wire: Uint8Array;
  lastValidBlockHeight: number;
  phase: 'sent' | 'confirmed';
  slot: number | null;
  /** Process times (performance.now) of the launch, the next look and the next sending. */
  broadcastAt: number;
  pollAt: number;
  sendAt: number;
  /** Whether it was told that these bytes are signed. */
  isSignedPublished: boolean;
  /** Looks in a row that found nothing of what has landed: the next ones search the history. */
  missedPolls: number;
  /** Looks at the balances of a finalized transaction that no provider could answer. */
  unansweredReads: number;
  /** A provider has it as processed: the others are asked in the same moment as the next look. */
  processed: boolean;
  /** Since when one provider says what the others do not bear out (performance.now); null while they agree. */
  doubtedAt: number | null;
  /** The alarm about that was raised. */
  disputed: boolean;
};

/**
 * What this process drives at the moment. It is memory only: whatever is lost with the process is found again in
 * the tables by the sweeper.
 */
export type InFlightTransactions = ReturnType<typeof createInFlightTransactions>;

export const createInFlightTransactions = () => {
  /** Null while an intent has no bytes in flight yet. */
  const transactions = new Map<string, InFlightTransaction | null>();
  let wake = (_pollAt: number) => {};
  return {
    pollInterval: createPollInterval(),
    /** Takes an intent into this process's hands. False when it is there already. */
    begin: (intentId: string): boolean => {
      if (transactions.has(intentId)) return false;
      transactions.set(intentId, null);
      return true;
    },
    add: (transaction: InFlightTransaction): void => {
      transactions.set(transaction.intent.intent_id, transaction);
      wake(transaction.pollAt);
    },
    /** Back to having no bytes, still in this process's hands. */
    clear: (intentId: string): void => {
      transactions.set(intentId, null);
    },
    end: (intentId: string): void => {
      transactions.delete(intentId);
    },
    has: (intentId: string): boolean => transactions.has(intentId),
    /** True while exactly this flight is the one in the air: an answer about an older one is void. */
    isCurrent: (transaction: InFlightTransaction): boolean => transactions.get(transaction.intent.intent_id) === transaction,
    ids: (): string[] => [...transactions.keys()],
    list: (): InFlightTransaction[] => [...transactions.values()].filter((transaction) => transaction !== null),
    /** Looks at an intent's bytes and sends them again at the next chance. */
    pollNow: (intentId: string): void => {
      const transaction = transactions.get(intentId);
      if (!transaction) return;
      // What is being written has its next look right after.
      if (Number.isFinite(transaction.pollAt)) transaction.pollAt = 0;
      transaction.sendAt = 0;
      wake(0);
    },
    /** @param listener is told when a flight is to be looked at */
    onWake: (listener: (pollAt: number) => void): void => {
      wake = listener;
    },
  };
};
