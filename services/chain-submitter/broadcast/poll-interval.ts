/** So many payments are remembered. */
const REMEMBERED = 32;
/** A chain that is not known yet is looked at early: a local one confirms at once. */
const FIRST_POLL_MS = 3;
const EARLIER = 0.8;
const POLLS_A_PAYMENT = 16;
const MAX_PAUSE_MS = 500;
/** Pause between looks at a chain that confirms at once, which no provider's rate limit guards. */
const AT_ONCE_PAUSE_MS = 4;

/**
 * How fast the chain is, learnt from the time that the last payments took from their sending to the beginning of the look
 * that found them confirmed. What follows that beginning is none of the chain's: counted in, each first look would put the
 * next one off. A hint: it moves looks, never what they mean.
 */
export const createPollInterval = () => {
  const took: number[] = [];
  let fastestMs = 0;
  let medianMs = 0;
  return {
    record: (ms: number): void => {
      took.push(ms);
      if (took.length > REMEMBERED) took.shift();
      const sorted = took.toSorted((a, b) => a - b);
      fastestMs = sorted[0]!;
      medianMs = sorted[sorted.length >> 1]!;
    },
    /** When new bytes are first looked at: a little before the fastest of late. */
    firstPollMs: (): number => Math.max(FIRST_POLL_MS, EARLIER * fastestMs),
    /** Pause between looks that finds bytes of this age soon after they are confirmed, with few looks for nothing. */
    pauseMs: (ageMs: number): number => Math.min(MAX_PAUSE_MS, Math.max(ageMs, medianMs) / POLLS_A_PAYMENT),
    /**
     * Least pause between two looks of this process: what is configured, unless half of the payments are confirmed before
     * two such pauses are over, which no network does.
     */
    leastPauseMs: (configuredMs: number): number =>
      took.length === 0 ? configuredMs : Math.min(configuredMs, Math.max(AT_ONCE_PAUSE_MS, medianMs / 2)),
  };
};
