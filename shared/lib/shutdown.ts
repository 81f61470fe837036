import closeWithGrace from 'close-with-grace';
import type { Logger } from './telemetry/logger.ts';

/**
 * Longer than the longest call (29 s) and the longest drain (15 s). An orchestrator must wait
 * longer before SIGKILL.
 */
export const STOPS_WITHIN_SECONDS = 45;

/**
 * Runs the steps in their order on SIGTERM, SIGINT or an uncaught error. A failed step does not
 * stop the next one. A second signal ends the process at once with exit code 1, which is as safe as
 * SIGKILL (docs/design/settle.md). Before this call, deploy/image/signals.mjs ends the process.
 */
export const onShutdown = (logger: Logger, steps: readonly (() => unknown)[]): void => {
  const onSecondSignal = (signal?: string) => logger.warn({ signal }, 'second signal, ending at once');
  const delay = STOPS_WITHIN_SECONDS * 1000;
  closeWithGrace({ delay, logger: false, onSecondSignal }, async ({ signal, err }) => {
    if (err !== undefined) logger.fatal({ err }, 'uncaught error');
    else logger.info({ signal }, 'stopping');
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        logger.error({ err: error }, 'shutdown step failed');
      }
    }
  });
};
