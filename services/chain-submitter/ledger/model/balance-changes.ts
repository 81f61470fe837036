import type { ChainError } from './chain-error.ts';
import type { NetworkCost } from './network-cost.ts';

/**
 * The changes of token balances by a transaction, by account, and its cost; null when the provider
 * does not name it.
 */
export type TokenDeltas = { deltaOf: (account: string) => bigint; cost: NetworkCost | null };

/** What an included transaction changed, as one provider reports it. */
export type BalanceChanges = TokenDeltas & {
  slot: number;
  err: ChainError | null;
  /** Who signed the transaction and pays its fee; null when the signature does not verify. */
  feePayer: () => string | null;
};
