import { ServiceError } from '../../../shared/contract/errors.ts';
import { SignerUnavailable } from './signer.ts';

/**
 * Signs for a caller. While the key cannot be used, the caller gets a 503, and nothing has been
 * signed.
 */
export const signForCaller = async <T>(signing: Promise<T>): Promise<T> => {
  try {
    return await signing;
  } catch (error) {
    if (!(error instanceof SignerUnavailable)) throw error;
    throw new ServiceError('service_unavailable', 'nothing can be signed right now', {
      money_moved: 'no',
      safe_action: 'retry_same_attempt',
      retryAfterSeconds: 2,
    });
  }
};
