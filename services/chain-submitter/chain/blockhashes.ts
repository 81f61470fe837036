import type { Blockhash, RpcPool } from './rpc-pool.ts';

/** Blocks in which a blockhash is valid. */
export const BLOCKHASH_BLOCKS = 150;

/**
 * The time of a slot. A younger blockhash is as good as a new one, so a burst of payments reads it
 * once.
 */
const MAX_AGE_MS = 400;

/** Recent blockhashes at confirmed commitment. Reads may throw RpcUnavailable. */
export const createBlockhashes = (rpc: Pick<RpcPool, 'latestBlockhash'>) => {
  let latest: { at: number; value: Promise<Blockhash> } | undefined;
  let answeredAt = Number.NEGATIVE_INFINITY;
  return {
    get: (): Promise<Blockhash> => {
      if (latest !== undefined && performance.now() - latest.at < MAX_AGE_MS) return latest.value;
      const entry = { at: performance.now(), value: rpc.latestBlockhash() };
      latest = entry;
      entry.value.then(
        () => {
          answeredAt = performance.now();
        },
        () => {
          if (latest === entry) latest = undefined;
        },
      );
      return entry.value;
    },
    /** Whether a provider has answered a read in the last so many milliseconds. */
    answeredWithin: (ms: number): boolean => performance.now() - answeredAt <= ms,
    /** Makes the next `get` read a new blockhash. */
    invalidate: (): void => {
      latest = undefined;
    },
  };
};
export type Blockhashes = ReturnType<typeof createBlockhashes>;
