import type { TransactionError } from './errors.ts';

/**
 * The fields of a transaction that are kept in memory. The others are in the journal, at `offset`.
 */
export type IncludedTransaction = {
  signature: string;
  messageHash: string;
  slot: number;
  /** Unix seconds. */
  time: number;
  err: TransactionError | null;
  memo: string | null;
  /** Start and length of its journal line, in bytes. */
  offset: number;
  length: number;
  lost: boolean;
};

export type History = ReturnType<typeof createHistory>;

/**
 * The included transactions, by signature and by every account that they name, including read-only
 * ones.
 */
export const createHistory = () => {
  const inOrder: IncludedTransaction[] = [];
  const bySignature = new Map<string, IncludedTransaction>();
  const byMessage = new Map<string, IncludedTransaction>();
  const byAddress = new Map<string, IncludedTransaction[]>();
  const bySlot = new Map<number, IncludedTransaction[]>();
  const append = <Key>(lists: Map<Key, IncludedTransaction[]>, key: Key, one: IncludedTransaction): void => {
    const list = lists.get(key);
    if (list) list.push(one);
    else lists.set(key, [one]);
  };

  return {
    count: () => inOrder.length,
    get: (signature: string): IncludedTransaction | undefined => bySignature.get(signature),

    /** The transaction with this message, whatever stands in place of its signatures. */
    ofMessage: (hash: string): IncludedTransaction | undefined => byMessage.get(hash),

    /** Transactions that name the address, oldest first. */
    of: (address: string): IncludedTransaction[] =>
      byAddress.get(address)?.filter((transaction) => !transaction.lost) ?? [],

    /** The transactions of a block, in their order. */
    inSlot: (slot: number): readonly IncludedTransaction[] => bySlot.get(slot) ?? [],

    add: (transaction: IncludedTransaction, addresses: Iterable<string>): void => {
      inOrder.push(transaction);
      bySignature.set(transaction.signature, transaction);
      byMessage.set(transaction.messageHash, transaction);
      append(bySlot, transaction.slot, transaction);
      for (const address of addresses) append(byAddress, address, transaction);
    },

    /**
     * Removes and returns the transactions that were included in `firstLostSlot` or later, so that
     * the same bytes can be included again.
     */
    fork: (firstLostSlot: number): IncludedTransaction[] => {
      const lost: IncludedTransaction[] = [];
      while ((inOrder.at(-1)?.slot ?? 0) >= firstLostSlot) {
        const transaction = inOrder.pop()!;
        transaction.lost = true;
        bySignature.delete(transaction.signature);
        byMessage.delete(transaction.messageHash);
        bySlot.delete(transaction.slot);
        lost.push(transaction);
      }
      return lost;
    },
  };
};
