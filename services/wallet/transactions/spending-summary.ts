import { invalid } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import {
  MAX_GROUPS,
  MAX_SUMMARY_DAYS,
  type transactionOperations,
} from '../../../shared/contract/wallet/transactions.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { summaryPeriod } from './model/period.ts';
import { scopeOf } from './scope.ts';
import { sumRefunds, sumSpending } from './store.ts';

/** GET /v1/spending/summary. */
export const spendingSummary =
  ({ pool, clock }: { pool: Pool; clock: Clock }): Handler<typeof transactionOperations.spendingSummary> =>
  async ({ from, to, group_by: groupBy = 'day' }, caller) => {
    const period = summaryPeriod({ from, to }, clock(), MAX_SUMMARY_DAYS);
    if ('message' in period) {
      throw invalid(period.path, period.message);
    }
    const scope = scopeOf(caller);
    const [[total, ...groups], refunded] = await Promise.all([
      sumSpending(pool, scope, period, { groupBy, limit: MAX_GROUPS }),
      sumRefunds(pool, scope, period),
    ]);
    const shown = groups.map(({ key, spent, payment_count }) => ({
      key,
      spent: formatMicro(spent),
      payment_count: Number(payment_count),
    }));
    return {
      from: isoTime(period.fromMs),
      to: isoTime(period.toMs),
      total_spent: formatMicro(total!.spent),
      total_refunded: formatMicro(refunded),
      total_fees: formatMicro(total!.fees),
      payment_count: Number(total!.payment_count),
      groups: groupBy === 'day' ? shown.sort((a, b) => (a.key! < b.key! ? -1 : 1)) : shown,
    };
  };
