import type { Clock } from '../../../shared/lib/clock.ts';
import { BudgetUsedUp, refusalOf } from './fee-budgets.ts';

/** Runs work for a caller. A used-up budget becomes the answer that says when to retry. */
export const withBudgetRefusal = async <T>(clock: Clock, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw error instanceof BudgetUsedUp ? refusalOf(error, clock()) : error;
  }
};
