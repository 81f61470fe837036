import type { Provider } from './provider.ts';
import type { Blockhash, RpcPool } from './rpc-pool.ts';

/** Blocks in which a blockhash is valid. */
export const BLOCKHASH_BLOCKS = 150;

/**
 * The last block in which bytes of unknown age may be included: their blockhash exists, and is as
 * new as the newest block that a provider has confirmed. The highest answer counts, because the
 * number of one provider could be too low.
 * @param minContextSlot a provider that has not reached it does not count
 * @param everywhere every provider must answer
 * @throws RpcUnavailable
 */
export const readLastValid = async (
  rpc: Pick<RpcPool, 'providers' | 'first' | 'soon'>,
  { minContextSlot, everywhere = false }: { minContextSlot?: number; everywhere?: boolean },
): Promise<number> => {
  const read = (provider: Provider) => provider.blockHeight('confirmed', minContextSlot);
  const heights = await (everywhere ? Promise.all(rpc.providers.map(read)) : rpc.soon(read));
  return BLOCKHASH_BLOCKS + Math.max(...(heights.length > 0 ? heights : [await rpc.first(read)]));
};

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
