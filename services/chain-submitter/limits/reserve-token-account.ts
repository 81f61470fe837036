import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import { allowCreation } from './account-subsidies.ts';
import { withBudgetRefusal } from './budget-refusal.ts';
import { BudgetUsedUp, type Limits, secondsToMidnight } from './fee-budgets.ts';
import type { OwnBudgets } from './own-budgets.ts';
import { reservePromise } from './token-account-rent.ts';

type Deps = {
  pool: Pool;
  tokenAccounts: TokenAccounts;
  limits: Limits;
  clock: Clock;
  ownBudgets: OwnBudgets;
};

/**
 * Whether payouts to an owner have, or will get, a token account. Its rent is reserved with the
 * grant. The promises of a day's quotes are therefore bounded, and a settle to a promised account
 * never waits for a budget.
 */
export const reserveTokenAccount =
  (deps: Deps): Handler<typeof chainSubmitter.internal.reserveTokenAccount> =>
  async ({ account_id, owner, until }) => {
    const { tokenAccounts, limits, clock, ownBudgets } = deps;
    await withBudgetRefusal(clock, ownBudgets.settleFees.checkVendor(account_id));
    const state = await readForCaller(tokenAccounts.getState(owner));
    if (state === 'ready') return { status: 'exists', retry_after_seconds: null };
    if (state === 'foreign') return { status: 'refused', retry_after_seconds: null };
    const rent = { name: 'rent_settle', accountId: account_id, owner } as const;
    const promise = { now: clock(), until: Date.parse(until) };
    try {
      const status = await readForCaller(
        allowCreation(deps, account_id, owner, (tx) => reservePromise(tx, limits, rent, promise)),
      );
      return { status: status === 'creating' ? 'granted' : status, retry_after_seconds: null };
    } catch (error) {
      if (!(error instanceof BudgetUsedUp)) throw error;
      return { status: 'refused', retry_after_seconds: secondsToMidnight(clock()) };
    }
  };
