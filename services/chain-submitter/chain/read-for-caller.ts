import { ServiceError } from '../../../shared/contract/errors.ts';
import { isProviderError, RpcUnavailable } from './json-rpc.ts';

/**
 * Wraps work that is done for a caller. An error of this class becomes a 503, because nothing has
 * been done and the same attempt may be repeated. Every other error is passed on.
 */
export const refuseCallerOn =
  (unavailable: abstract new (...args: never[]) => Error, message: string) =>
  async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof unavailable)) throw error;
      throw new ServiceError('service_unavailable', message, {
        money_moved: 'no',
        safe_action: 'retry_same_attempt',
        retryAfterSeconds: 2,
      });
    }
  };

/**
 * Reads the chain for a caller. When no provider answers, the caller gets a 503, and nothing has
 * been done.
 */
export const readForCaller = refuseCallerOn(RpcUnavailable, 'the chain cannot be read right now');

/** Runs a search for a caller, for whom a search that failed is no answer about money. */
export const unknownOnError = async <T>(searching: Promise<T>): Promise<T> => {
  try {
    return await searching;
  } catch (error) {
    if (!isProviderError(error)) throw error;
    throw new ServiceError('service_unavailable', 'the chain cannot be searched right now', {
      money_moved: 'unknown',
      safe_action: 'retry_same_attempt',
      retryAfterSeconds: 2,
    });
  }
};
