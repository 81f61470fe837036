import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { lockPreparation, type PreparationRow } from './store/preparations.ts';

/**
 * A refusal is one only while nothing was submitted. Another call may have done that beside this one, and what refused this
 * one may be what that one moved.
 * @param answer what is answered of a preparation that was submitted
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
