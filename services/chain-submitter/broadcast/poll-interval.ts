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
const EARLIER = 0.8;
const POLLS_A_PAYMENT = 16;
const MAX_PAUSE_MS = 500;

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
    firstPollMs: (): number => EARLIER * fastestMs,
    /**
     * The pause that finds bytes of this age soon after their confirmation, with few unsuccessful
     * polls.
     */
    pauseMs: (ageMs: number): number => Math.min(MAX_PAUSE_MS, Math.max(ageMs, medianMs) / POLLS_A_PAYMENT),
  };
};
