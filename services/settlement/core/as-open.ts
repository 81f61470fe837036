import { ServiceError } from '../../../shared/contract/errors.ts';

/**
 * Work of chain-submitter for one call. Its error reports that this call has done nothing. Another
 * call with the same payment may have paid, or may pay while this one is answered.
 */
export const asOpen = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError(error.code, error.message, { ...error.extras, money_moved: 'unknown' });
  }
};
