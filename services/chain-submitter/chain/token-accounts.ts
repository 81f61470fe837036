import { LRUCache } from 'lru-cache';
import { tokenAccountOf } from './addresses.ts';
import { readTokenAccount, type TokenAccount } from './model/token-account.ts';
import type { Blockhash, Rpc } from './rpc-pool.ts';

/** A slot's time: a blockhash younger than this is as good as a new one, and a burst asks once. */
const BLOCKHASH_MS = 400;
/** How late a closed token account is noticed; the simulation catches what this misses. */
const READY_MS = 15_000;
const MAX_READY = 10_000;

/** What is read from the chain to build with. All reads may throw RpcUnavailable. */
export type ChainView = ReturnType<typeof createChainView>;

export const createChainView = (rpc: Rpc, mint: string) => {
  let latest: { at: number; value: Promise<Blockhash> } | undefined;
  // Without a resolution it sets no timers, which the simulation would have to carry out.
  const ready = new LRUCache<string, true>({ max: MAX_READY, ttl: READY_MS, ttlResolution: 0 });

  const tokenAccounts = async (
    owners: readonly string[],
    options: { notBefore?: number } = {},
  ): Promise<{ slot: number; accounts: TokenAccount[] }> => {
    const { slot, accounts } = await rpc.accounts(
      owners.map((owner) => tokenAccountOf(owner, mint)),
      options,
    );
    return {
      slot,
      accounts: owners.map((owner, at) => readTokenAccount(accounts[at] ?? null, { owner, mint })),
    };
  };

  const tokenAccount = async (
    owner: string,
    options: { notBefore?: number } = {},
  ): Promise<{ slot: number; account: TokenAccount }> => {
    const { slot, accounts } = await tokenAccounts([owner], options);
    const account = accounts[0]!;
    if (account.state === 'ready') ready.set(owner, true);
    else ready.delete(owner);
    return { slot, account };
  };

  return {
    /** A recent blockhash at confirmed commitment. */
    blockhash: (): Promise<Blockhash> => {
      if (latest !== undefined && performance.now() - latest.at < BLOCKHASH_MS) return latest.value;
      const entry = { at: performance.now(), value: rpc.latestBlockhash() };
      latest = entry;
      entry.value.catch(() => {
        if (latest === entry) latest = undefined;
      });
      return entry.value;
    },
    /** The next blockhash is asked for anew. */
    forgetBlockhash: () => {
      latest = undefined;
    },
    /** The token account of an owner, now. */
    tokenAccount,
    /** Those of up to 100 owners by one call, in their order. */
    tokenAccounts,
    /** Its state, `ready` for a while without asking again: it hardly ever goes away. */
    payable: async (owner: string): Promise<TokenAccount['state']> => {
      return ready.has(owner) ? 'ready' : (await tokenAccount(owner)).account.state;
    },
    forgetPayable: (owner: string) => ready.delete(owner),
  };
};
