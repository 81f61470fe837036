import type { TokenDeltas } from '../ledger/model/balance-changes.ts';
import { isProviderError } from './json-rpc.ts';
import type { Provider } from './provider.ts';

/** A slot with fewer transactions of ours is read transaction by transaction. */
const LEAST_OURS = 5;
/**
 * A call for one transaction costs this process as much CPU as so many transactions of a block (90
 * and 18 µs). A block of a public network has thousands that are not ours, and 5 MB.
 */
const WORTH_OF_A_CALL = 5;
/** For how long a block's size says what the next ones have, and a refusal that there are none. */
const SIZE_FOR_MS = 600_000;
const REFUSED_FOR_MS = 60_000;

type Transaction = { slot: number | null; signature: string };
const NOTHING: ReadonlyMap<string, TokenDeltas> = new Map();

const bySlot = (transactions: readonly Transaction[]): Map<number, string[]> => {
  const slots = new Map<number, string[]>();
  for (const { slot, signature } of transactions) {
    if (slot === null) continue;
    const ours = slots.get(slot);
    if (ours) ours.push(signature);
    else slots.set(slot, [signature]);
  }
  return slots;
};

/**
 * Reads finalized transactions by their blocks, where one call for a block costs less than a call
 * for each of ours in it.
 * @returns a function that returns the token balance changes of those that were read so, by
 *   signature. Each of the others needs its own call: it has few of ours beside it, the block is
 *   large, or the provider does not have it (a slot without a block, or one that it has deleted)
 */
export const createFinalizedBlocks = (provider: Pick<Provider, 'finalizedBlock'>) => {
  /** Transactions of the last block that was read; infinite after a refusal. */
  let size = 0;
  let sizeUntil = 0;
  const learn = (transactions: number, forMs: number): void => {
    size = transactions;
    sizeUntil = performance.now() + forMs;
  };

  const read = async (slot: number, ours: readonly string[]) => {
    try {
      const block = await provider.finalizedBlock(slot, new Set(ours));
      if (block !== null) learn(block.transactions, SIZE_FOR_MS);
      return block?.changes ?? NOTHING;
    } catch (error) {
      if (!isProviderError(error)) throw error;
      learn(Number.POSITIVE_INFINITY, REFUSED_FOR_MS);
      return NOTHING;
    }
  };
  const isCheaper = (ours: number): boolean =>
    ours >= LEAST_OURS && (performance.now() >= sizeUntil || ours * WORTH_OF_A_CALL >= size);

  return async (transactions: readonly Transaction[]): Promise<ReadonlyMap<string, TokenDeltas>> => {
    const found = new Map<string, TokenDeltas>();
    // One after the other, because the first block shows how large the next ones are.
    for (const [slot, ours] of bySlot(transactions)) {
      if (!isCheaper(ours.length)) continue;
      for (const [signature, changes] of await read(slot, ours)) found.set(signature, changes);
    }
    return found;
  };
};
