import type { z } from 'zod';
import type { DelegateSpending } from '../../../shared/contract/settlement.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { remainingMicro, resetTimes } from './model.ts';
import type { DelegateRow } from './store.ts';

const capText = (cap: bigint | null): string | null => (cap === null ? null : formatMicro(cap));

/** A delegate's caps and what is left of them, as identity shows them. */
export const showDelegate = (row: DelegateRow): z.infer<typeof DelegateSpending> => {
  const usage = (cap: bigint | null, held: bigint, spent: bigint, resetsAt: number | null) => ({
    spent: formatMicro(spent),
    held: formatMicro(held),
    remaining: capText(remainingMicro(cap, held, spent)),
    resets_at: isoTimeOrNull(resetsAt),
  });
  const resets = resetTimes(row.now);
  return {
    delegate_id: row.delegate_id,
    limits: {
      per_payment: capText(row.per_payment),
      daily: capText(row.daily),
      monthly: capText(row.monthly),
      total: capText(row.total),
    },
    allowed_service_ids: row.allowed_service_ids,
    external: row.external ? { pay_to: row.external_pay_to ?? 'any', origins: row.external_origins } : null,
    approval_above: capText(row.approval_above),
    paused: row.paused,
    usage: {
      daily: usage(row.daily, row.day_held, row.day_spent, resets.daily),
      monthly: usage(row.monthly, row.month_held, row.month_spent, resets.monthly),
      total: usage(row.total, row.total_held, row.total_spent, null),
    },
    version: row.version,
  };
};
