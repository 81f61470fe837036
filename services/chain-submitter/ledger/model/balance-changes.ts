import type { ChainError } from './chain-error.ts';

/** What an included transaction changed, as one provider reports it. */
export type BalanceChanges = {
  slot: number;
  err: ChainError | null;
  deltaOf: (account: string) => bigint;
  /** Who signed the transaction and pays its fee; null when the signature does not verify. */
  feePayer: () => string | null;
};
