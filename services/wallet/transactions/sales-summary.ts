import type { Handler } from '../../../shared/contract/service.ts';
import type { transactionOperations } from '../../../shared/contract/wallet/transactions.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { summarize } from './summarize.ts';

/** GET /v1/sales/summary: of an account, or of the service of a key. */
export const salesSummary = (deps: {
  reads: Reads;
  clock: Clock;
}): Handler<typeof transactionOperations.salesSummary> => {
  const summary = summarize(deps, { payments: 'sold', refunds: 'returned' });
  return async (input, caller) => {
    const service_id = caller.kind === 'service_key' ? caller.service_id : null;
    const scope = { account_id: caller.account_id, delegate_id: null, service_id };
    const { total, totals, groups } = await summary(scope, input);
    return {
      ...totals,
      total_sold: total,
      // Every sale has a service.
      groups: groups.map(({ key, amount, payment_count }) => ({ key: key!, sold: amount, payment_count })),
    };
  };
};
