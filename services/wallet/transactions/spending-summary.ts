import { invalid } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import {
  MAX_GROUPS,
  MAX_SUMMARY_DAYS,
  type transactionOperations,
} from '../../../shared/contract/wallet.transactions.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { viewerOf } from '../wallets/view.ts';
import { summaryPeriod } from './model/period.ts';
import { refundedOf, spendingOf } from './store.ts';

/** GET /v1/spending/summary. */
export const spendingSummary =
  (deps: Deps): Handler<typeof transactionOperations.spendingSummary> =>
  async ({ from, to, group_by: groupBy = 'day' }, caller) => {
    const period = summaryPeriod({ from, to }, deps.clock(), MAX_SUMMARY_DAYS);
    if ('message' in period) {
      throw invalid(period.path, period.message);
    }
    const viewer = viewerOf(caller);
    const [[total, ...groups], refunded] = await Promise.all([
      spendingOf(deps.pool, viewer, period, { groupBy, limit: MAX_GROUPS }),
      refundedOf(deps.pool, viewer, period),
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
