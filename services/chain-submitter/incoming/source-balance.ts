import type { Pool } from '../../../shared/db/pool.ts';
import { isConfirmed } from '../broadcast/model/agreement.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import { spendableMicro } from '../ledger/model/token-account.ts';
import { listUnconfirmedSignatures } from './store/intents.ts';

/** What the signer of a payment can spend of the paying token account at a slot. */
export type SourceBalance = {
  slot: number;
  balanceMicro: bigint;
  /** Signatures of payments that the balance contains, although that is not recorded yet. */
  contains: readonly string[];
};

type Source = { source: string; authority: string };
export type BalanceReader = { network: Network; rpc: RpcPool };
type Deps = BalanceReader & { pool: Pool };

/** Reads the balance of a paying token account at confirmed commitment. */
export const readSourceBalance = async (
  { network, rpc }: BalanceReader,
  { source, authority }: Source,
): Promise<SourceBalance> => {
  const { slot, accounts } = await readForCaller(rpc.accounts([source]));
  return { slot, balanceMicro: spendableMicro(accounts[0] ?? null, network.mint, authority), contains: [] };
};

/**
 * What the signer can spend in the newest block, which is not confirmed yet. An owner who empties
 * the account shows here first. The answer is compared and never counted, because a fork may remove
 * such a block.
 */
export const readNewestBalance = async (
  { network, rpc }: BalanceReader,
  { source, authority }: Source,
): Promise<bigint> => {
  const { value } = await readForCaller(
    rpc.first((provider) => provider.accounts([source], undefined, 'processed')),
  );
  const account = value[0] ?? null;
  const read = account && { ...account, data: Buffer.from(account.data[0], 'base64') };
  return spendableMicro(read, network.mint, authority);
};

/**
 * As `readSourceBalance`, with the payments whose confirmation is not recorded yet. Without them,
 * such a payment would count twice: in the balance and in what is held of it.
 */
export const readExactSourceBalance = async (deps: Deps, paying: Source): Promise<SourceBalance> => {
  const signatures = await listUnconfirmedSignatures(deps.pool, paying.source);
  const balance = await readSourceBalance(deps, paying);
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
