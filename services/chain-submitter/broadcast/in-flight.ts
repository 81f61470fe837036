import type { Order } from '../intents/model/order.ts';
import type { IntentRow } from '../intents/store/intents.ts';
import { createPace } from './poll-interval.ts';

/** Committed bytes that may land, and what was last seen of them. */
export type Flight = {
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
  launchedAt: number;
  pollAt: number;
  sendAt: number;
  /** Whether it was told that these bytes are signed. */
  told: boolean;
  /** Looks in a row that found nothing of what has landed: the next ones search the history. */
  missed: number;
  /** Looks at the balances of a finalized transaction that no provider could answer. */
  unanswered: number;
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
export type Flights = ReturnType<typeof createFlights>;

export const createFlights = () => {
  /** Null while an intent has no bytes in flight yet. */
  const driven = new Map<string, Flight | null>();
  let wake = (_pollAt: number) => {};
  return {
    pace: createPace(),
    /** Takes an intent into this process's hands. False when it is there already. */
    begin: (intentId: string): boolean => {
      if (driven.has(intentId)) return false;
      driven.set(intentId, null);
      return true;
    },
    launch: (flight: Flight): void => {
      driven.set(flight.intent.intent_id, flight);
      wake(flight.pollAt);
    },
    /** Back to having no bytes, still in this process's hands. */
    ground: (intentId: string): void => {
      driven.set(intentId, null);
    },
    end: (intentId: string): void => {
      driven.delete(intentId);
    },
    has: (intentId: string): boolean => driven.has(intentId),
    /** True while exactly this flight is the one in the air: an answer about an older one is void. */
    isCurrent: (flight: Flight): boolean => driven.get(flight.intent.intent_id) === flight,
    ids: (): string[] => [...driven.keys()],
    inAir: (): Flight[] => [...driven.values()].filter((flight) => flight !== null),
    /** Looks at an intent's bytes and sends them again at the next chance. */
    hurry: (intentId: string): void => {
      const flight = driven.get(intentId);
      if (!flight) return;
      // What is being written has its next look right after.
      if (Number.isFinite(flight.pollAt)) flight.pollAt = 0;
      flight.sendAt = 0;
      wake(0);
    },
    /** @param listener is told when a flight is to be looked at */
    onWake: (listener: (pollAt: number) => void): void => {
      wake = listener;
    },
  };
};
