import { batched } from '../../../shared/db/batched.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { inParts, ofTurn } from '../../../shared/lib/of-turn.ts';
import { readLastValid } from '../chain/blockhashes.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { ChainAccount } from '../ledger/model/token-account.ts';
import type { AccountAt } from './source-balance.ts';
import { listFailures } from './store/intents.ts';

/** Accounts of one getMultipleAccounts call. */
const MOST = 100;

/** Reads of the chain for the payments of one turn of the event loop. */
const inOneTurn = <I, T>(load: (inputs: readonly I[]) => Promise<readonly T[]>) =>
  ofTurn(inParts(load, MOST), process.nextTick);

/**
 * What is read before a payment of another client is signed. Payments that arrive together share a
 * statement, and a call to the chain. Each read begins after it was asked for.
 */
export const createSharedReads = ({ pool, rpc }: { pool: Pool; rpc: RpcPool }) => {
  const readConfirmed = async (sources: readonly string[]): Promise<AccountAt[]> => {
    const { slot, accounts } = await rpc.accounts(sources);
    return accounts.map((account) => ({ slot, account }));
  };
  const readNewest = async (sources: readonly string[]): Promise<(ChainAccount | null)[]> => {
    const { value } = await rpc.first((provider) => provider.accounts(sources, undefined, 'processed'));
    return value.map((account) => account && { ...account, data: Buffer.from(account.data[0], 'base64') });
  };
  const readHeights = async (slots: readonly number[]): Promise<number[]> => {
    const lastValid = await readLastValid(rpc, { minContextSlot: Math.max(...slots) });
    return slots.map(() => lastValid);
  };
  return {
    failures: batched((queries: readonly { source: string; vendor: string }[]) =>
      listFailures(pool, queries),
    ),
    /** A token account at confirmed commitment. May throw RpcUnavailable, as all of these. */
    confirmedAccount: inOneTurn(readConfirmed),
    /**
     * A token account in the newest block, which is not confirmed yet. An owner who empties the
     * account shows here first. The answer is compared and never counted, because a fork may remove
     * such a block.
     */
    newestAccount: inOneTurn(readNewest),
    /**
     * As `readLastValid`, for a blockhash that was known in this slot. The highest slot of those
     * that ask counts, so the bytes expire no earlier.
     */
    lastValid: inOneTurn(readHeights),
  };
};
export type SharedReads = ReturnType<typeof createSharedReads>;
