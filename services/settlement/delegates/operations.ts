import type { Records } from '../../../shared/boot.ts';
import { listDelegateSpending } from './list-delegate-spending.ts';
import { upsertDelegate } from './upsert-delegate.ts';

/** The operations of this noun. */
export const delegateOperations = (deps: Pick<Records, 'pool'>) => ({
  upsertDelegate: upsertDelegate(deps),
  listDelegateSpending: listDelegateSpending(deps),
});
