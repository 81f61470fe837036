import type { z } from 'zod';
import type { BalanceChanges, TokenDeltas } from '../ledger/model/balance-changes.ts';
import type { NetworkCost } from '../ledger/model/network-cost.ts';
import { type IncludedTransaction, parseIncluded } from './included-transaction.ts';
import { type TransactionJson, TransactionOfBlock } from './schemas.ts';

type Returned = z.infer<typeof TransactionJson>;
type Meta = Omit<Returned['meta'], 'loadedAddresses'>;

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

const deltaOf = (
  { preTokenBalances, postTokenBalances }: Meta,
  account: string,
  accountAt: (index: number) => string | undefined,
): bigint => {
  const amountIn = (list: Meta['preTokenBalances']): bigint => {
    const balance = list?.find(({ accountIndex }) => accountAt(accountIndex) === account);
    return BigInt(balance?.uiTokenAmount.amount ?? '0');
  };
  return amountIn(postTokenBalances) - amountIn(preTokenBalances);
};

/** What the transaction took from its fee payer, which is its first account. */
const costOf = (
  { fee, preBalances, postBalances }: Meta,
  feePayer: string | undefined,
): NetworkCost | null => {
  const [before, after] = [preBalances?.[0], postBalances?.[0]];
  if (feePayer === undefined || fee == null || before === undefined || after === undefined) return null;
  return {
    feePayer,
    feeLamports: BigInt(fee),
    rentLamports: BigInt(before) - BigInt(after) - BigInt(fee),
  };
};

/**
 * The accounts in the numbering of the balances. Those of lookup tables are the provider's word,
 * as the balances are.
 */
const accountsOf = ({ accounts, accountAt }: IncludedTransaction, { loadedAddresses }: Returned['meta']) => {
  const loaded = [...(loadedAddresses?.writable ?? []), ...(loadedAddresses?.readonly ?? [])];
  return (index: number): string | undefined => accountAt(index) ?? loaded[index - accounts];
};

/** A token account whose balance a transaction has changed. */
export type Movement = { address: string; owner: string | null; deltaMicro: bigint };

/** All token accounts whose balance changes; null when the answer is about another transaction. */
export const parseMovements = (returned: Returned, signature: string): Movement[] | null => {
  const included = parseReturned(returned, signature);
  if (included === null) return null;
  const { meta } = returned;
  const accountAt = accountsOf(included, meta);
  const owners = new Map<string, string | null>();
  for (const { accountIndex, owner = null } of [
    ...(meta.preTokenBalances ?? []),
    ...(meta.postTokenBalances ?? []),
  ])
    owners.set(accountAt(accountIndex) ?? '', owner);
  return [...owners]
    .map(([address, owner]) => ({ address, owner, deltaMicro: deltaOf(meta, address, accountAt) }))
    .filter(({ deltaMicro }) => deltaMicro !== 0n);
};

/**
 * The token balance changes of a transaction; null when the answer is about another transaction.
 */
export const parseBalanceChanges = (returned: Returned, signature: string): BalanceChanges | null => {
  const included = parseReturned(returned, signature);
  if (included === null) return null;
  const { slot, meta } = returned;
  const accountAt = accountsOf(included, meta);
  return {
    slot,
    err: meta.err,
    deltaOf: (account) => deltaOf(meta, account, accountAt),
    cost: costOf(meta, accountAt(0)),
    feePayer: included.feePayer,
  };
};

const signatureOf = (one: unknown): unknown =>
  (one as { transaction?: { signatures?: unknown[] } } | null)?.transaction?.signatures?.[0];

/** The token balance changes of those transactions of a block that have one of the signatures. */
export const parseBlock = (
  transactions: readonly unknown[],
  wanted: ReadonlySet<string>,
): Map<string, TokenDeltas> => {
  const found = new Map<string, TokenDeltas>();
  for (const one of transactions) {
    if (!wanted.has(signatureOf(one) as string)) continue;
    const parsed = TransactionOfBlock.safeParse(one);
    if (!parsed.success) continue;
    const { transaction, meta } = parsed.data;
    const accountAt = (index: number) => transaction.accountKeys[index]?.pubkey;
    found.set(transaction.signatures[0], {
      deltaOf: (account) => deltaOf(meta, account, accountAt),
      cost: costOf(meta, accountAt(0)),
    });
  }
  return found;
};
