import type { DelegateSpending, Peers } from '../peers.ts';
import type { DelegateRow } from './store.ts';

/**
 * Queries settlement once for what these delegates may spend.
 * @returns a function that throws for a delegate that settlement does not have, because its
 * database was restored from a backup
 */
export const getSpending = async (
  { listDelegateSpending }: Pick<Peers, 'listDelegateSpending'>,
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
