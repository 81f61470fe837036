import type { Pool } from '../../../shared/db/pool.ts';
import { isConfirmed } from '../broadcast/model/agreement.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import { type ChainAccount, spendableMicro } from '../ledger/model/token-account.ts';
import { listUnconfirmedSignatures } from './store/intents.ts';

/** What the signer of a payment can spend of the paying token account at a slot. */
export type SourceBalance = {
  slot: number;
  balanceMicro: bigint;
  /** Signatures of payments that the balance contains, although that is not recorded yet. */
  contains: readonly string[];
};

type Source = { source: string; authority: string };
type Deps = { network: Network; rpc: RpcPool; pool: Pool };
/** A token account at a slot. */
export type AccountAt = { slot: number; account: ChainAccount | null };

/** What the signer of a payment can spend of the paying token account. */
export const spendableOf = (
  account: ChainAccount | null,
  { mint }: Pick<Network, 'mint'>,
  { authority }: Pick<Source, 'authority'>,
): bigint => spendableMicro(account, mint, authority);

/** The balance of a paying token account that was read at confirmed commitment. */
export const sourceBalance = (
  { slot, account }: AccountAt,
  network: Pick<Network, 'mint'>,
  paying: Source,
): SourceBalance => ({ slot, balanceMicro: spendableOf(account, network, paying), contains: [] });

/**
 * Reads the balance with the payments whose confirmation is not recorded yet. Without them,
 * such a payment would count twice: in the balance and in what is held of it.
 */
export const readExactSourceBalance = async (deps: Deps, paying: Source): Promise<SourceBalance> => {
  const signatures = await listUnconfirmedSignatures(deps.pool, paying.source);
  const { slot, accounts } = await readForCaller(deps.rpc.accounts([paying.source]));
  const balance = sourceBalance({ slot, account: accounts[0] ?? null }, deps.network, paying);
  if (signatures.length === 0) return balance;
  const { statuses } = await readForCaller(
    deps.rpc.first((provider) => provider.statuses(signatures, { history: false })),
  );
  const contains = signatures.filter((_, index) => {
    const status = statuses[index] ?? null;
    return status !== null && isConfirmed({ provider: 0, status }) && status.slot <= balance.slot;
  });
  return { ...balance, contains };
};
