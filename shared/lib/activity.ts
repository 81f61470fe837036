/**
 * Whether this process has had anything to do lately. What a sweep finds is nearly always the rest
 * of a call or a message of the last seconds, so a process without any may sweep rarely.
 */

/**
 * Longer than every lease that a sweep waits for (15 s), so that it finds what a call or a start
 * has left as early as ever.
 */
const QUIET_AFTER_MS = 30_000;
/**
 * The pause between two runs of a job while the process is quiet: how late it then finds what
 * another process has left, and what becomes due by time.
 */
export const QUIET_PAUSE_MS = 5000;

let activeAt = performance.now();
const resting = new Set<() => void>();

/** Called for each call, message and finding of a sweep. Ends the long pauses of this process. */
export const noteActivity = (): void => {
  activeAt = performance.now();
  if (resting.size === 0) return;
  const ends = [...resting];
  resting.clear();
  for (const end of ends) end();
};

/** The pause of a job that runs every `pauseMs` while the process is active. */
export const currentPauseMs = (pauseMs: number): number =>
  performance.now() - activeAt < QUIET_AFTER_MS ? pauseMs : Math.max(pauseMs, QUIET_PAUSE_MS);

/**
 * The jobs of a process run at the same moments, because each time that an idle process wakes up
 * costs about 1 ms of CPU. The processes of a machine have moments of their own.
 */
const GRID_MS = 1000;
const phaseMs = Math.random() * QUIET_PAUSE_MS;

/** A timer may end that much early, and the same moment must not come twice. */
const EARLY_MS = 10;

/** The time until the last common moment of jobs within `ms`. */
const untilCommonMoment = (ms: number): number => {
  if (ms < GRID_MS) return ms;
  const end = performance.now() + ms + phaseMs;
  const wait = ms - (end % (ms < QUIET_PAUSE_MS ? GRID_MS : QUIET_PAUSE_MS));
  return wait < EARLY_MS ? ms : wait;
};

/**
 * Waits at most `ms`, and at most `pauseMs` after the next activity. A job does not run at that
 * moment, because it would delay the call that ended the quiet time.
 */
export const rest = (
  ms: number,
  { pauseMs, signal }: { pauseMs: number; signal: AbortSignal },
): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      resting.delete(shorten);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const shorten = () => {
      clearTimeout(timer);
      timer = setTimeout(end, pauseMs);
    };
    let timer = setTimeout(end, untilCommonMoment(ms));
    if (ms > pauseMs) resting.add(shorten);
    signal.addEventListener('abort', end, { once: true });
  });
