import type { z } from 'zod';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { conflict, invalid, ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import type { PublicKeys } from '../../../shared/lib/tokens/keys.ts';
import { ownerKind } from '../chain/addresses.ts';
import type { Blockhashes } from '../chain/blockhashes.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import { type Network, platformAddresses } from '../ledger/model/network.ts';
import type { TransferOrder } from '../ledger/model/order.ts';
import { waitToAllowCreation } from '../limits/account-subsidies.ts';
import { withBudgetRefusal } from '../limits/budget-refusal.ts';
import type { Cosigning } from '../limits/cosigning.ts';
import { parseOrder, type TransferRequest } from '../transactions/parse-order.ts';
import { transfer } from '../transactions/transfer.ts';
import { type Destination, resolveDestination } from './destination.ts';
import { prepare } from './prepare.ts';
import { unlessSubmitted } from './unless-submitted.ts';

type Deps = {
  pool: Pool;
  clock: Clock;
  environment: string;
  keys: PublicKeys;
  network: Network;
  rpc: RpcPool;
  tokenAccounts: TokenAccounts;
  blockhashes: Blockhashes;
  cosigning: Cosigning;
};

type Input = z.infer<typeof chainSubmitter.internal.prepareTransfer.input>;

const refusal = (message: string) => conflict(message, { money_moved: 'no' });

const destinationOf = async (deps: Deps, input: Input): Promise<Destination> => {
  const found = await readForCaller(resolveDestination(deps, input.destination, input.owner));
  if (!('problem' in found)) return found;
  // A refund names no destination: it goes back to the wallet that paid.
  if (input.transfer === 'refund') throw refusal(`the payer’s wallet ${found.problem}`);
  throw invalid('destination_address', found.problem);
};

/** Checks what the chain requires of the source, before the owner is asked to sign. */
const checkSource = async ({ tokenAccounts, network }: Deps, { owner, transfer: kind, amount }: Input) => {
  if (platformAddresses(network).includes(owner)) throw refusal('an address of the platform cannot pay');
  if (ownerKind(owner) !== 'key')
    throw refusal('the payout address is a vault without a key: its refunds are signed elsewhere');
  const { account } = await readForCaller(tokenAccounts.get(owner));
  const payer = kind === 'refund' ? 'the payout address' : 'the wallet';
  if (account.state === 'foreign') throw refusal(`the token account of ${payer} belongs to another owner`);
  if (account.state === 'ready' && account.frozen) throw refusal(`the token account of ${payer} is frozen`);
  if (account.state === 'missing' || account.balanceMicro < parseMicro(amount)) {
    throw new ServiceError('insufficient_funds', `the balance of ${payer} is too small`, {
      money_moved: 'no',
      safe_action: 'top_up',
    });
  }
};

/**
 * Whether the transaction has to create the payee's token account, within the quota of the
 * requesting account.
 */
const creates = async (deps: Deps, { accountId, payee }: TransferOrder): Promise<boolean> => {
  if (payee === null) return false;
  const { account } = await readForCaller(deps.tokenAccounts.get(payee));
  if (account.state === 'ready' && !account.frozen) return false;
  if (account.state !== 'missing') throw refusal('the token account of the destination cannot be paid');
  const allowed = await readForCaller(waitToAllowCreation(deps, accountId, payee));
  if (allowed === 'refused') {
    throw refusal(
      'the destination has no USDC token account, and the platform has paid for it before or its quota is used up; let the owner receive any USDC from another wallet, which creates the account',
    );
  }
  return allowed === 'granted';
};

/** Prepares the transaction of a withdrawal or refund, which the owner of the money signs first. */
export const prepareTransfer =
  (deps: Deps): Handler<typeof chainSubmitter.internal.prepareTransfer> =>
  (input) =>
    unlessSubmitted(deps, input.object_id, {
      work: () => prepareFor(deps, input),
      answer: () => {
        throw conflict('this was submitted already', { money_moved: 'unknown' });
      },
    });

const prepareFor = async (deps: Deps, input: Input) => {
  await checkSource(deps, input);
  const { tokenAccount, payee } = await destinationOf(deps, input);
  const { transfer: kind, object_id, settlement_id, account_id, owner, amount, accepted_at } = input;
  const request = {
    object_id,
    settlement_id,
    account_id,
    owner,
    amount,
    accepted_at,
    payee,
    destination: tokenAccount,
  } satisfies TransferRequest;
  const order = parseOrder({ kind, request, created_at: deps.clock() }, deps) as TransferOrder;
  const cosigned = {
    order,
    objectId: object_id,
    settlementId: settlement_id,
    accountId: input.budget_account_id,
  };
  await withBudgetRefusal(deps.clock, deps.cosigning.check({ ...cosigned, creates: null }));
  const create = await creates(deps, order);
  if (create) await withBudgetRefusal(deps.clock, deps.cosigning.check({ ...cosigned, creates: payee }));
  const prepared = await prepare(deps, order, transfer(order, deps.network, { create }), {
    preparation_id: object_id,
    budget_account_id: input.budget_account_id,
    request,
    creates: create ? payee : null,
  });
  return { ...prepared, destination_token_account: tokenAccount };
};
