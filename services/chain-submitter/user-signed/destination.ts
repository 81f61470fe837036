import { isAddress, tokenAccountOf } from '../chain/addresses.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { type Network, platformAddresses } from '../ledger/model/network.ts';
import { PROGRAMS } from '../ledger/model/programs.ts';
import { tokenAccountOwner } from '../ledger/model/token-account.ts';
import { findOwnerProblem } from './owner.ts';

/**
 * Where a transfer goes. `payee`: the wallet whose token account may be created; null for an
 * existing account.
 */
export type Destination = { tokenAccount: string; payee: string | null };

/**
 * Resolves an address to a token account. The address is a wallet's, or a token account of the
 * mint, as exchanges show it (docs/spec/decisions.md, Funding).
 * @param from the paying wallet, whose token account is no destination
 * @returns the destination, or the problem of the address as a text that follows its field's name
 * @throws RpcUnavailable
 */
export const resolveDestination = async (
  { network, rpc }: { network: Network; rpc: RpcPool },
  address: string,
  from: string,
): Promise<Destination | { problem: string }> => {
  if (!isAddress(address)) return { problem: 'must be the base58 text of 32 bytes' };
  const { mint } = network;
  if (address === from || address === tokenAccountOf(from, mint)) return { problem: 'is the wallet itself' };
  const platform = platformAddresses(network);
  if (platform.includes(address)) return { problem: 'is an address of the platform' };

  const { accounts } = await rpc.accounts([address]);
  const account = accounts[0] ?? null;
  if (account?.owner === PROGRAMS.token && address !== mint) {
    const owner = tokenAccountOwner(account, mint);
    if (owner === null) return { problem: 'is a mint, frozen, or a token account of another mint' };
    if (owner === from) return { problem: 'belongs to the wallet itself' };
    if (platform.includes(owner)) return { problem: 'belongs to the platform' };
    return { tokenAccount: address, payee: null };
  }
  const problem = await findOwnerProblem({ network, rpc }, address, { allowOffCurve: false });
  return problem === null ? { tokenAccount: tokenAccountOf(address, mint), payee: address } : { problem };
};
