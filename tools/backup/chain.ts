import { setTimeout as sleep } from 'node:timers/promises';
import { openRpcPool } from '../../services/chain-submitter/chain/rpc-pool.ts';

const POLL_EVERY_MS = 1000;
const REPORT_EVERY = 10;

/**
 * Waits until nothing that was signed before this call can land any more. chain-submitter must have
 * been stopped. What it had sent and a restored database does not know can be proven to be dead in
 * this way alone: by block height on every provider, not by a clock (docs/design/settle.md, rule
 * 11).
 */
export const startWaiting = async (urls: readonly string[]) => {
  const { providers } = openRpcPool(urls);
  const newest = await Promise.all(providers.map((provider) => provider.latestBlockhash()));
  // The last of all: one provider may lag behind the one that gave chain-submitter its last
  // blockhash.
  const after = Math.max(...newest.map(({ value }) => value.lastValidBlockHeight));
  return {
    after,
    /** Resolves with the lowest finalized height; a provider that is away is waited for. */
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
