import type { Records } from '../../../shared/boot.ts';
import { listDelegateSpending } from './list-delegate-spending.ts';
import type { CloseAuthorizations } from './model.ts';
import { upsertDelegate } from './upsert-delegate.ts';

/** The operations of this noun. */
export const delegateOperations = (
  deps: Pick<Records, 'pool'> & { closeAuthorizations: CloseAuthorizations },
) => ({
  upsertDelegate: upsertDelegate(deps),
  listDelegateSpending: listDelegateSpending(deps),
});
