import type { ChainError } from './chain-error.ts';

/** The changes of token balances by a transaction, by account. */
export type TokenDeltas = { deltaOf: (account: string) => bigint };

/** What an included transaction changed, as one provider reports it. */
export type BalanceChanges = TokenDeltas & {
  slot: number;
  err: ChainError | null;
  /** Who signed the transaction and pays its fee; null when the signature does not verify. */
  feePayer: () => string | null;
};
