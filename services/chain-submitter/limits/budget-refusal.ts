import type { Clock } from '../../../shared/lib/clock.ts';
import { BudgetUsedUp, refusalOf } from './fee-budgets.ts';

/** Work for a caller: a budget that is used up is the answer that says when to come back. */
export const withBudgetRefusal = async <T>(clock: Clock, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw error instanceof BudgetUsedUp ? refusalOf(error, clock()) : error;
  }
};
