import { ServiceError } from '../../../shared/contract/errors.ts';
import { RpcUnavailable } from './json-rpc.ts';

/**
 * Reads the chain for a caller. When no provider answers, the caller gets a 503, and nothing has
 * been done.
 */
export const readForCaller = async <T>(read: Promise<T>): Promise<T> => {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    throw new ServiceError('service_unavailable', 'the chain cannot be read right now', {
      money_moved: 'no',
      safe_action: 'retry_same_attempt',
      retryAfterSeconds: 2,
    });
  }
};
