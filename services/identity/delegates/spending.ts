import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/index.ts';
import type { DelegateSpending as Spending } from '../../../shared/contract/settlement.ts';
import type { DelegateRow } from './store.ts';

/** Limits, usage and allowed services of a delegate, which settlement stores. */
export type DelegateSpending = z.infer<typeof Spending>;

/** Queries the settlement service for delegates. */
export type SpendingFinder = {
  listDelegateSpending: (accountId: string, delegateIds: string[]) => Promise<DelegateSpending[]>;
};

/**
 * Queries settlement once for what these delegates may spend.
 * @returns a function that throws for a delegate that settlement does not have, because its
 * database was restored from a backup
 */
export const getSpending = async (
  { listDelegateSpending }: SpendingFinder,
  accountId: string,
  rows: readonly DelegateRow[],
): Promise<(delegateId: string) => DelegateSpending> => {
  const ids = rows.map(({ delegate_id }) => delegate_id);
  const found = ids.length === 0 ? [] : await listDelegateSpending(accountId, ids);
  const byId = new Map(found.map((spending) => [spending.delegate_id, spending]));
  return (id) => {
    const spending = byId.get(id);
    if (spending === undefined) throw new Error(`settlement has no delegate ${id}`);
    return spending;
  };
};

/** Stores limits and allowed services in the settlement service. */
export type SpendingWriter = {
  /** Null when the stored version is not the expected one. */
  upsertDelegate: (
    input: z.infer<(typeof settlement.internal)['upsertDelegate']['input']>,
  ) => Promise<DelegateSpending | null>;
};
