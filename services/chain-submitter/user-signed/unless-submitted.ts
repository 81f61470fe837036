import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { lockPreparation, type PreparationRow } from '../ledger/store/preparations.ts';

/**
 * Runs work on a preparation and replaces its refusal when a concurrent call has submitted the
 * preparation. The refusal may then be an effect of that submission, for example a balance that is
 * too small.
 * @param answer the answer for a submitted preparation
 */
export const unlessSubmitted = async <T>(
  { pool }: { pool: Pool },
  preparationId: string,
  { work, answer }: { work: () => Promise<T>; answer: (preparation: PreparationRow) => T },
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const preparation = await lockPreparation(pool, preparationId);
    if (preparation?.status !== 'submitted') throw error;
    return answer(preparation);
  }
};
