import type { Handler } from '../../../shared/contract/service.ts';
import type { transactionOperations } from '../../../shared/contract/wallet/transactions.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { scopeOf } from './scope.ts';
import { summarize } from './summarize.ts';

/** GET /v1/spending/summary. */
export const spendingSummary = (deps: {
  reads: Reads;
  clock: Clock;
}): Handler<typeof transactionOperations.spendingSummary> => {
  const summary = summarize(deps, { payments: 'paid', refunds: 'refunded' });
  return async (input, caller) => {
    const { total, totals, groups } = await summary({ ...scopeOf(caller), service_id: null }, input);
    return {
      ...totals,
      total_spent: total,
      groups: groups.map(({ amount, ...group }) => ({ ...group, spent: amount })),
    };
  };
};
