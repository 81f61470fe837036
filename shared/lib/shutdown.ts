import closeWithGrace from 'close-with-grace';
import type { Logger } from './logger.ts';

/** The longest call (29 s) and the longest drain (15 s) fit in: what orchestrators wait before SIGKILL should be more. */
const GRACE_MS = 45_000;

/**
 * On SIGTERM, SIGINT or an uncaught error: runs the steps in order (stop taking, finish, drain, close), each of
 * which may fail without keeping the next from running. SIGKILL at any moment is as safe (docs/settle.md).
 */
export const onShutdown = (logger: Logger, steps: readonly (() => unknown)[]): void => {
  closeWithGrace({ delay: GRACE_MS, logger: false }, async ({ signal, err }) => {
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
