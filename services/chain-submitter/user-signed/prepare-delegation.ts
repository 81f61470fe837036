import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { conflict, invalid } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { tokenAccountOf } from '../chain/addresses.ts';
import type { Blockhashes } from '../chain/blockhashes.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import type { Network } from '../ledger/model/network.ts';
import type { DelegationOrder } from '../ledger/model/order.ts';
import { waitToAllowCreation } from '../limits/account-subsidies.ts';
import { withBudgetRefusal } from '../limits/budget-refusal.ts';
import type { Cosigning } from '../limits/cosigning.ts';
import { delegation } from '../transactions/delegation.ts';
import type { DelegationRequest } from '../transactions/parse-order.ts';
import { prepare } from './prepare.ts';

type Deps = {
  pool: Pool;
  clock: Clock;
  network: Network;
  rpc: RpcPool;
  tokenAccounts: TokenAccounts;
  blockhashes: Blockhashes;
  cosigning: Cosigning;
};

/** Whether the approval has to create the token account. */
const creates = async (deps: Deps, order: DelegationOrder): Promise<boolean> => {
  const { account } = await readForCaller(deps.tokenAccounts.get(order.owner));
  if (account.state === 'ready') return false;
  if (account.state === 'foreign') throw conflict('the wallet’s token account belongs to another owner');
  if (order.allowanceMicro === null) throw conflict('the wallet has no token account, so nothing to revoke');
  const allowed = await readForCaller(waitToAllowCreation(deps, order.accountId, order.owner));
  if (allowed === 'refused') {
    throw conflict(
      'the wallet has no USDC token account and the quota of accounts that the platform pays for is used up; send any USDC to the wallet from another one, which creates the account',
    );
  }
  return allowed === 'granted';
};

/**
 * Prepares the approve or revoke transaction, which the owner signs first. It replaces an open
 * preparation of this wallet.
 */
export const prepareDelegation =
  (deps: Deps): Handler<typeof chainSubmitter.internal.prepareDelegation> =>
  async (input) => {
    const { preparation_id, account_id, owner, allowance } = input;
    const { network } = deps;
    if (network.feePayers.includes(owner) || network.delegateAuthorities.includes(owner))
      throw invalid('owner', 'is an address of the platform');
    // The newest authority, whatever was approved before, so that wallets leave an authority before
    // it is retired.
    const authority = network.delegateAuthorities[0]!;
    const order: DelegationOrder = {
      kind: 'delegation',
      accountId: account_id,
      owner,
      tokenAccount: tokenAccountOf(owner, network.mint),
      authority,
      allowanceMicro: allowance === null ? null : parseMicro(allowance),
      since: deps.clock(),
    };
    const cosigned = { order, objectId: preparation_id, settlementId: null, accountId: account_id };
    await withBudgetRefusal(deps.clock, deps.cosigning.check({ ...cosigned, creates: null }));
    const create = await creates(deps, order);
    if (create) await withBudgetRefusal(deps.clock, deps.cosigning.check({ ...cosigned, creates: owner }));
    return prepare(deps, order, delegation(order, network, { create }), {
      preparation_id,
      budget_account_id: account_id,
      request: { ...input, authority } satisfies DelegationRequest,
      creates: create ? owner : null,
    });
  };
