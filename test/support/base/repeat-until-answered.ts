import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../shared/contract/errors.ts';

/**
 * Repeats a call while it is refused with a Retry-After, because the service or an earlier call is
 * busy. A client with an Idempotency-Key does the same.
 */
export const repeatUntilAnswered = async <T>(call: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.extras.retryAfterSeconds === undefined) throw error;
      await sleep(100);
    }
  }
};
