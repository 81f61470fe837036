import { invalid } from '../../../shared/contract/errors.ts';
import { MAX_GROUPS, MAX_SUMMARY_DAYS } from '../../../shared/contract/wallet/transactions.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { splitPeriod, summaryPeriod } from './model/period.ts';
import { type GroupBy, type SumScope, sumPayments, sumRefunds } from './store/day-sums.ts';

type Asked = { from?: string | undefined; to?: string | undefined; group_by?: GroupBy | undefined };

/**
 * Sums the payments of a side and its refunds. Amounts are micro-units as digits. Days are in their
 * order, other groups in the order of their amounts.
 * @throws ServiceError validation_error
 */
export const summarize =
  (
    { reads, clock }: { reads: Reads; clock: Clock },
    sides: { payments: 'paid' | 'sold'; refunds: 'refunded' | 'returned' },
  ) =>
  async (scope: SumScope, { from, to, group_by: groupBy = 'day' }: Asked) => {
    const now = clock();
    const period = summaryPeriod({ from, to }, now, MAX_SUMMARY_DAYS);
    if ('message' in period) throw invalid(period.path, period.message);
    const of = { scope, split: splitPeriod(period, now) };
    const { sums, refunded } = await reads(async (db) => ({
      sums: await sumPayments(db, { side: sides.payments, ...of }, { groupBy, limit: MAX_GROUPS }),
      refunded: await sumRefunds(db, { side: sides.refunds, ...of }),
    }));
    const [total, ...groups] = sums;
    const shown = groups.map(({ key, amount, payment_count }) => ({
      key,
      amount: formatMicro(amount),
      payment_count: Number(payment_count),
    }));
    return {
      total: formatMicro(total!.amount),
      totals: {
        from: isoTime(period.fromMs),
        to: isoTime(period.toMs),
        total_refunded: formatMicro(refunded),
        total_fees: formatMicro(total!.fees),
        payment_count: Number(total!.payment_count),
      },
      groups: groupBy === 'day' ? shown.sort((a, b) => (a.key! < b.key! ? -1 : 1)) : shown,
    };
  };
