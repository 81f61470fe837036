import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { remainingMicro, resetOf } from '../delegates/model.ts';
import type { DelegateRow } from '../delegates/store.ts';

/** The limits of an account for what a sign-in pays, and how much of this day is used. */
export const showLimits = (
  row: DelegateRow,
): z.infer<(typeof settlement.operations.getAccountLimits)['output']> => ({
  // The row of an account has both caps.
  per_payment: formatMicro(row.per_payment!),
  daily: formatMicro(row.daily!),
  used_today: formatMicro(row.day_held + row.day_spent),
  remaining_today: formatMicro(remainingMicro(row.daily, row.day_held, row.day_spent)!),
  resets_at: isoTime(resetOf('account_daily', row.now)!),
});
