import type { z } from 'zod';
import type { BalanceChanges } from '../ledger/model/balance-changes.ts';
import { type IncludedTransaction, parseIncluded } from './included-transaction.ts';
import type { TransactionJson } from './schemas.ts';

type Returned = z.infer<typeof TransactionJson>;
type Balances = Returned['meta']['preTokenBalances'];

const parse = (text: string): IncludedTransaction | null => {
  try {
    return parseIncluded(Buffer.from(text, 'base64'));
  } catch {
    return null;
  }
};

/**
 * The transaction of an answer, or null when the answer is about another transaction or cannot be
 * read.
 */
export const parseReturned = ({ transaction }: Returned, signature: string): IncludedTransaction | null => {
  const included = parse(transaction[0]);
  return included?.signature === signature ? included : null;
};

/**
 * The token balance changes of a transaction; null when the answer is about another transaction.
 */
export const parseBalanceChanges = (returned: Returned, signature: string): BalanceChanges | null => {
  const included = parseReturned(returned, signature);
  if (included === null) return null;
  const { slot, meta } = returned;
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
