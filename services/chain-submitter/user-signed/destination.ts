import { isAddress, tokenAccountOf } from '../chain/addresses.ts';
import { type Network, platformAddresses } from '../chain/model/network.ts';
import { PROGRAMS } from '../chain/model/programs.ts';
import { tokenAccountOwner } from '../chain/model/token-account.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { findOwnerProblem } from './owner.ts';

/** Where a transfer goes. `payee` is the wallet whose token account may be created; null: an account that is there. */
export type Destination = { tokenAccount: string; payee: string | null };

/**
 * Works out the token account behind an address: a wallet's, or a token account of the mint that was named itself
 * (docs/spec/decisions.md, Funding). An exchange gives the one, a person the other.
 * @param from the wallet that pays: its own accounts are no destination
 * @returns why the address cannot be paid, in words that follow its field's name
 * @throws RpcUnavailable
 */
export const resolveDestination = async (
  { network, rpc }: { network: Network; rpc: Rpc },
  address: string,
  from: string,
): Promise<Destination | { why: string }> => {
  if (!isAddress(address)) return { why: 'must be the base58 text of 32 bytes' };
  const { mint } = network;
  if (address === from || address === tokenAccountOf(from, mint)) return { why: 'is the wallet itself' };
  const platform = platformAddresses(network);
  if (platform.includes(address)) return { why: 'is an address of the platform' };

  const { accounts } = await rpc.accounts([address]);
  const account = accounts[0] ?? null;
  if (account?.owner === PROGRAMS.token && address !== mint) {
    const owner = tokenAccountOwner(account, mint);
    if (owner === null) return { why: 'is a mint, frozen, or a token account of another mint' };
    if (owner === from) return { why: 'belongs to the wallet itself' };
    if (platform.includes(owner)) return { why: 'belongs to the platform' };
    return { tokenAccount: address, payee: null };
  }
  const why = await findOwnerProblem({ network, rpc }, address, { allowOffCurve: false });
  return why === null ? { tokenAccount: tokenAccountOf(address, mint), payee: address } : { why };
};
