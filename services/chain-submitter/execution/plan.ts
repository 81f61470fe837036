import type { TransactionInstruction } from '@solana/web3.js';
import type { Pool } from '../../../shared/db/pool.ts';
import type { PriorityFees } from '../chain/priority-fees.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import type { Failure } from '../ledger/model/failure.ts';
import type { Network } from '../ledger/model/network.ts';
import type { OwnOrder } from '../ledger/model/order.ts';
import { allowCreation } from '../limits/account-subsidies.ts';
import { createTokenAccount } from '../transactions/create-token-account.ts';
import { fund } from '../transactions/fund.ts';
import { settle } from '../transactions/settle.ts';

/** The instructions that execute an order now, or why there are none. */
type Plan =
  | { instructions: TransactionInstruction[]; creates: string | null }
  | { failure: Failure }
  | { done: true }
  /**
   * Another transaction that creates the token account may be included. The order is planned again
   * in a moment.
   */
  | { creating: true };

const failed = (message: string): Plan => ({ failure: { code: 'payment_failed', message } });

const QUOTA_USED_UP = 'the quota of token accounts that the platform pays for is used up';

/**
 * Reads the chain and decides which instructions an order needs at this moment.
 * @param generation the number of transactions that were signed for the intent before
 * @throws RpcUnavailable
 */
export const planTransaction = async (
  deps: { tokenAccounts: TokenAccounts; network: Network; pool: Pool; priorityFees: PriorityFees },
  order: OwnOrder,
  generation: number,
): Promise<Plan> => {
  const { tokenAccounts, network } = deps;
  switch (order.kind) {
    case 'settle': {
      const [state, price] = await Promise.all([
        tokenAccounts.getState(order.payout),
        deps.priorityFees.priceOf(order, generation),
      ]);
      if (state === 'foreign') return failed('the vendor’s token account belongs to another owner');
      if (state === 'ready')
        return { instructions: settle(order, network, { create: false, price }), creates: null };
      // The permit was reserved with the quote, so this refuses only an account that was closed
      // since.
      const allowed = await allowCreation(deps, order.vendorAccountId, order.payout);
      if (allowed === 'refused') return failed('the vendor’s token account was closed');
      if (allowed === 'creating') return { creating: true };
      const create = allowed === 'granted';
      return {
        instructions: settle(order, network, { create, price }),
        creates: create ? order.payout : null,
      };
    }
    case 'fund': {
      const state = await tokenAccounts.getState(order.owner);
      if (state === 'foreign') return failed('the wallet’s token account belongs to another owner');
      // The quota applies, because otherwise a user could close the account for its rent and
      // request funds again.
      const allowed = state === 'ready' ? 'exists' : await allowCreation(deps, order.accountId, order.owner);
      if (allowed === 'refused') return failed(QUOTA_USED_UP);
      if (allowed === 'creating') return { creating: true };
      const create = allowed === 'granted';
      return { instructions: fund(order, network, { create }), creates: create ? order.owner : null };
    }
    case 'createTokenAccount': {
      const { account } = await tokenAccounts.get(order.owner);
      if (account.state === 'ready') return { done: true };
      if (account.state === 'foreign') return failed('the wallet’s token account belongs to another owner');
      const allowed = await allowCreation(deps, order.accountId, order.owner);
      if (allowed === 'exists') return { done: true };
      if (allowed === 'refused') return failed(QUOTA_USED_UP);
      if (allowed === 'creating') return { creating: true };
      return { instructions: createTokenAccount(order, network), creates: order.owner };
    }
  }
};
