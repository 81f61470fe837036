import { z } from 'zod';
import { sql } from '../../../../shared/db/pool.ts';
import type { Compared } from '../../declines/model.ts';

/** The columns of `comparedWith`. */
export const comparedShape = {
  limit_micro: z.bigint().nullable(),
  left_micro: z.bigint().nullable(),
  decided_at: z.number(),
};

/**
 * The columns `limit_micro`, `left_micro` and `decided_at` of an acceptance: the limit that the
 * decision compared the amount with, from the same locked rows. Null where no limit is the reason.
 */
export const comparedWith = (decision: ReturnType<typeof sql.fragment>) => sql.fragment`
  case ${decision} when 'over_per_payment' then per_payment when 'over_daily' then daily
    when 'over_monthly' then monthly when 'over_total' then total
    when 'over_account_per_payment' then per_payment when 'over_account_daily' then daily
    when 'balance_short' then balance when 'allowance_short' then allowance end as limit_micro,
  case ${decision} when 'over_per_payment' then per_payment when 'over_daily' then daily_left
    when 'over_monthly' then monthly_left when 'over_total' then total_left
    when 'over_account_per_payment' then per_payment when 'over_account_daily' then daily_left
    when 'balance_short' then balance_left when 'allowance_short' then allowance_left end as left_micro,
  app_now() as decided_at`;

/** A limit that was lowered below what is spent leaves 0. */
export const comparedOf = (
  row: z.infer<z.ZodObject<typeof comparedShape>>,
  askedMicro: bigint,
): Compared | null => {
  const { limit_micro: limitMicro, left_micro: leftMicro, decided_at: at } = row;
  if (limitMicro === null || leftMicro === null) return null;
  return { askedMicro, limitMicro, leftMicro: leftMicro > 0n ? leftMicro : 0n, at };
};
