import closeWithGrace from 'close-with-grace';
import type { Logger } from './logger.ts';

/**
 * The longest call (29 s) and the longest drain (15 s) fit in: what orchestrators wait before
 * SIGKILL must be more.
 */
export const STOPS_WITHIN_SECONDS = 45;

/**
 * On SIGTERM, SIGINT or an uncaught error: runs the steps in order (stop taking, finish, drain,
 * close), each of which may fail without keeping the next from running. A second signal ends the
 * process at once, by 1: SIGKILL at any moment is as safe (docs/design/settle.md). Before this is
 * called, deploy/image/signals.mjs ends the process.
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
        logger.error({ err: error }, 'a stop step failed');
      }
    }
  });
};
