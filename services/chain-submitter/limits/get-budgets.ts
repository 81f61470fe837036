import { z } from 'zod';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type Db, type Pool, sql } from '../../../shared/db/pool.ts';
import { LAMPORT_BUDGETS } from '../../../shared/lib/telemetry/metrics-catalog.ts';
import { sumReserved } from '../ledger/store/spending.ts';
import { type Limits, SHARES } from './fee-budgets.ts';

const MOST_SHOWN = 10;
const Share = z.object({
  budget: z.enum(LAMPORT_BUDGETS),
  /** `number`: of co-signatures, and not of lamports. */
  of: z.enum(['account', 'vendor', 'number']),
  account_id: z.string(),
  reserved: z.bigint(),
  /** An operator's factor on the number of co-signatures. */
  factor: z.number(),
});
type Share = z.infer<typeof Share>;
const Failures = z.object({ account_id: z.string(), failures: z.bigint().transform(Number) });

/** Of today, the accounts and vendors that have used most of their share of each budget. */
const mostUsed = (db: Db) =>
  db.any(sql.type(Share)`
    select budget, of, account_id, reserved, coalesce(factor, 1) as factor from (
      select split_part(scope, '/', 1) as budget, split_part(scope, '/', 2) as of, split_part(scope, '/', 3) as account_id,
        reserved, row_number() over (partition by split_part(scope, '/', 1), split_part(scope, '/', 2)
          order by reserved desc, scope) as place
      from spending where period = date_trunc('day', app_now(), 'UTC')
    ) as today left join cosigning_factors using (account_id)
    where budget = any(${sql.array([...LAMPORT_BUDGETS], 'text')}) and of in ('account', 'vendor', 'number')
      and place <= ${MOST_SHOWN}`);

/** What one account may use of a budget in a day. */
const perDayOf = ({ budget, of, factor }: Share, limits: Limits): bigint => {
  if (of !== 'number') return limits[budget] / SHARES;
  return (budget === 'fees_revoke' ? limits.revokes : limits.cosignatures) * BigInt(factor);
};

/** Of today, the vendor accounts with the most payments that failed on the chain. */
const mostFailures = (db: Db) =>
  db.any(sql.type(Failures)`
    select split_part(scope, '/', 2) as account_id, reserved as failures from spending
    where period = date_trunc('day', app_now(), 'UTC') and scope like 'incoming_failures/%'
    order by reserved desc limit ${MOST_SHOWN}`);

/** The lamport budgets of today: what is reserved, by whom most, and which accounts fail. */
export const getBudgets =
  ({ pool, limits }: { pool: Pool; limits: Limits }): Handler<typeof chainSubmitter.internal.getBudgets> =>
  async () => {
    const [reserved, most, failures] = await Promise.all([
      sumReserved(pool, LAMPORT_BUDGETS),
      mostUsed(pool),
      mostFailures(pool),
    ]);
    return {
      budgets: LAMPORT_BUDGETS.map((budget) => ({
        budget,
        reserved: Number(reserved.get(budget) ?? 0n),
        per_day: Number(limits[budget]),
      })),
      most: most
        .map((share) => ({
          budget: share.budget,
          of: share.of,
          account_id: share.account_id,
          reserved: Number(share.reserved),
          per_day: Number(perDayOf(share, limits)),
        }))
        .toSorted((a, b) => b.reserved / b.per_day - a.reserved / a.per_day)
        .slice(0, MOST_SHOWN),
      incoming_failures: [...failures],
      incoming_failures_per_day: Number(limits.incoming_failures),
    };
  };
