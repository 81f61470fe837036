import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import {
  type CostSum,
  countUnreadCosts,
  type Days,
  daysFrom,
  sumAccountCosts,
  sumPlatformCosts,
} from '../ledger/store/network-costs.ts';

const viewOf = ({ kind, transactions, fee_lamports, rent_lamports }: CostSum) => ({
  kind,
  transactions: Number(transactions),
  fee_lamports: String(fee_lamports),
  rent_lamports: String(rent_lamports),
});

/** The days of a month, or one day. */
const daysOf = (period: string): Days => {
  const [year, month, day] = period.split('-').map(Number);
  return day === undefined
    ? daysFrom(Date.UTC(year!, month! - 1, 1), Date.UTC(year!, month!, 1))
    : daysFrom(Date.UTC(year!, month! - 1, day));
};

/** What the transactions of a day or a month cost, by kind, and the accounts of its month. */
export const getCosts =
  ({ pool }: { pool: Pool }): Handler<typeof chainSubmitter.internal.getCosts> =>
  async ({ period, account_id, limit }) => {
    const { from, before } = daysOf(period);
    const [platform, accounts, unread] = await Promise.all([
      sumPlatformCosts(pool, { from, before }),
      sumAccountCosts(pool, { month: `${from.slice(0, 7)}-01`, accountId: account_id, limit }),
      countUnreadCosts(pool),
    ]);
    return {
      from,
      before,
      platform: platform.map(viewOf),
      accounts: accounts.map((sum) => ({ account_id: sum.account_id, ...viewOf(sum) })),
      unread: Number(unread),
    };
  };
