import { RateLimitedError } from '../../generated/errors.ts';

/**
 * Thrown instead of a call before the time that the API has named. The refusal itself was logged.
 */
export class WaitingError extends RateLimitedError {
  constructor(retryAfterMs: number) {
    super(
      { code: 'rate_limited', message: 'The API asked to wait.' },
      { status: 429, requestId: null, retryAfterMs },
    );
  }
}

/**
 * Makes the calls of one limit, and none while the API asks to wait. Refused calls count too, so a
 * flooded vendor that keeps calling would stay limited.
 */
export const createThrottle = () => {
  let until = 0;
  return async <T>(call: () => Promise<T>): Promise<T> => {
    const leftMs = until - Date.now();
    if (leftMs > 0) throw new WaitingError(leftMs);
    try {
      return await call();
    } catch (error) {
      if (error instanceof RateLimitedError) until = Date.now() + (error.retryAfterMs ?? 1000);
      throw error;
    }
  };
};
