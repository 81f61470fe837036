import { LRUCache } from 'lru-cache';
import { readTokenAccount, type TokenAccount } from '../ledger/model/token-account.ts';
import { tokenAccountOf } from './addresses.ts';
import type { RpcPool } from './rpc-pool.ts';

/**
 * A closed token account is noticed at most this late. The simulation of a transaction catches it
 * before.
 */
const READY_MS = 15_000;
const MAX_READY = 10_000;

/** Owners' token accounts of the mint. All reads may throw RpcUnavailable. */
export const createTokenAccounts = (
  rpc: Pick<RpcPool, 'accounts'>,
  mint: string,
  { maxReady = MAX_READY }: { maxReady?: number } = {},
) => {
  // A resolution would set timers, which do not run on the simulation's virtual time.
  const ready = new LRUCache<string, true>({ max: maxReady, ttl: READY_MS, ttlResolution: 0 });

  /** The token accounts of up to 100 owners by one call, in their order. */
  const list = async (
    owners: readonly string[],
    options: { notBefore?: number } = {},
  ): Promise<{ slot: number; accounts: TokenAccount[] }> => {
    const { slot, accounts } = await rpc.accounts(
      owners.map((owner) => tokenAccountOf(owner, mint)),
      options,
    );
    return {
      slot,
      accounts: owners.map((owner, index) => readTokenAccount(accounts[index] ?? null, { owner, mint })),
    };
  };

  /** The token account of an owner. */
  const get = async (
    owner: string,
    options: { notBefore?: number } = {},
  ): Promise<{ slot: number; account: TokenAccount }> => {
    const { slot, accounts } = await list([owner], options);
    const account = accounts[0]!;
    if (account.state === 'ready') ready.set(owner, true);
    else ready.delete(owner);
    return { slot, account };
  };

  return {
    get,
    list,
    /**
     * The state of an owner's token account. `ready` is cached, because such an account is hardly
     * ever closed.
     */
    getState: async (owner: string): Promise<TokenAccount['state']> =>
      ready.has(owner) ? 'ready' : (await get(owner)).account.state,
  };
};
export type TokenAccounts = ReturnType<typeof createTokenAccounts>;
