/** Pause between polls of what is confirmed and not final, or failed and not final. */
export const FINALITY_POLL_MS = 1000;
/**
 * Transactions that wait for finality are polled at these moments, so that few statements finalize
 * many.
 */
const FINALITY_GRID_MS = 2000;
/** Pause after a poll that no provider answered. */
export const RETRY_POLL_MS = 200;

/** The next moment of the finality grid after a pause. */
export const onFinalityGrid = (ms: number): number =>
  Math.ceil((performance.now() + ms) / FINALITY_GRID_MS) * FINALITY_GRID_MS;

/** Number of payments whose confirmation time is recorded. */
const RECORDED = 32;
/**
 * The first poll of a chain of unknown speed is early, because a local one confirms immediately.
 */
const FIRST_POLL_MS = 3;
const EARLIER = 0.8;
const POLLS_A_PAYMENT = 16;
const MAX_PAUSE_MS = 500;
/**
 * Pause between polls of a chain that confirms immediately. No provider's rate limit applies to it.
 */
const AT_ONCE_PAUSE_MS = 4;

/**
 * Adapts the polls to the chain's speed. It is measured from a payment's broadcast to the beginning
 * of the poll that found it confirmed. The time after that beginning is this process's. If it
 * counted, each first poll would delay the next. The interval only shifts polls and never changes
 * their meaning.
 */
export const createPollInterval = () => {
  const durations: number[] = [];
  let fastestMs = 0;
  let medianMs = 0;
  return {
    record: (ms: number): void => {
      durations.push(ms);
      if (durations.length > RECORDED) durations.shift();
      const sorted = durations.toSorted((a, b) => a - b);
      fastestMs = sorted[0]!;
      medianMs = sorted[sorted.length >> 1]!;
    },
    /** When new bytes are first polled: a little before the fastest recent confirmation. */
    firstPollMs: (): number => Math.max(FIRST_POLL_MS, EARLIER * fastestMs),
    /**
     * The pause that finds bytes of this age soon after their confirmation, with few unsuccessful
     * polls.
     */
    pauseMs: (ageMs: number): number => Math.min(MAX_PAUSE_MS, Math.max(ageMs, medianMs) / POLLS_A_PAYMENT),
    /**
     * The least pause between two polls of this process. It is the configured one, unless half of
     * the payments are confirmed before two such pauses are over, which happens on no public
     * network.
     */
    leastPauseMs: (configuredMs: number): number =>
      durations.length === 0
        ? configuredMs
        : Math.min(configuredMs, Math.max(AT_ONCE_PAUSE_MS, medianMs / 2)),
  };
};
