import { z } from 'zod';
import type { ChainError } from '../intents/model/failure.ts';
import { type IncludedTransaction, readIncluded } from '../transactions/message.ts';

export const ErrorJson = z.union([z.string(), z.record(z.string(), z.unknown())]).nullable();
const Balance = z.object({ accountIndex: z.number(), uiTokenAmount: z.object({ amount: z.string() }) });
type Balances = z.infer<typeof Balance>[] | null | undefined;

/** What getTransaction shows in its `base64` form. */
export const TransactionJson = z
  .object({
    slot: z.number(),
    transaction: z.tuple([z.string(), z.literal('base64')]),
    meta: z.object({
      err: ErrorJson,
      preTokenBalances: z.array(Balance).nullish(),
      postTokenBalances: z.array(Balance).nullish(),
    }),
  })
  .nullable();
type Shown = NonNullable<z.infer<typeof TransactionJson>>;

export type BalanceChanges = {
  slot: number;
  err: ChainError | null;
  deltaOf: (account: string) => bigint;
  /** Who signed it and pays its fee, proven by the signature; null when that does not hold. */
  feePayer: () => string | null;
};

const read = (text: string): IncludedTransaction | null => {
  try {
    return readIncluded(Buffer.from(text, 'base64'));
  } catch {
    return null;
  }
};

/** A transaction's token balance changes; null when it is no transaction, or another than the one asked for. */
export const parseBalanceChanges = (
  { slot, transaction, meta }: Shown,
  signature: string,
): BalanceChanges | null => {
  const included = read(transaction[0]);
  if (included?.signature !== signature) return null;
  const amountAt = (list: Balances, account: string): bigint => {
    const balance = list?.find(({ accountIndex }) => included.accountAt(accountIndex) === account);
    return BigInt(balance?.uiTokenAmount.amount ?? '0');
  };
  return {
    slot,
    err: meta.err,
    deltaOf: (account) =>
      amountAt(meta.postTokenBalances, account) - amountAt(meta.preTokenBalances, account),
    feePayer: included.feePayer,
  };
};
