import { setTimeout as sleep } from 'node:timers/promises';
import { openRpcPool } from '../../services/chain-submitter/chain/rpc-pool.ts';

const POLL_EVERY_MS = 1000;
const REPORT_EVERY = 10;

/**
 * Waits until no transaction that was signed before this call can be included. chain-submitter must
 * be stopped. A restored database may lack transactions that chain-submitter had sent. Only this
 * wait proves that they have expired: by block height on every provider, not by a clock
 * (docs/design/settle.md, rule 11).
 */
export const startWaiting = async (urls: readonly string[]) => {
  const { providers } = openRpcPool(urls);
  const newest = await Promise.all(providers.map((provider) => provider.latestBlockhash()));
  // The highest of all, because a provider may lag behind the one that gave chain-submitter its
  // last blockhash.
  const after = Math.max(...newest.map(({ value }) => value.lastValidBlockHeight));
  return {
    after,
    /** Resolves with the lowest finalized height. If a provider is unavailable, it waits. */
    isOver: async (progress: (text: string) => void): Promise<number> => {
      for (let polls = 0; ; polls++) {
        if (polls > 0) await sleep(POLL_EVERY_MS);
        const report = polls % REPORT_EVERY === 0 ? progress : () => {};
        try {
          const lowest = Math.min(
            ...(await Promise.all(providers.map((provider) => provider.blockHeight('finalized')))),
          );
          if (lowest > after) return lowest;
          report(`block ${lowest} of ${after + 1} is final everywhere`);
        } catch (error) {
          report(`waiting for the chain: ${(error as Error).message}`);
        }
      }
    },
  };
};
