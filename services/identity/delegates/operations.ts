import { createDelegate } from './create-delegate.ts';
import { deleteDelegate } from './delete-delegate.ts';
import { getDelegate } from './get-delegate.ts';
import { getOwnDelegate } from './get-own-delegate.ts';
import { listDelegates } from './list-delegates.ts';
import { updateDelegate } from './update-delegate.ts';

/** The operations on delegates, for main.ts and for the tests that serve them over a real bus. */
export const delegateOperations = (
  deps: Parameters<typeof createDelegate>[0] & Parameters<typeof listDelegates>[0],
) => ({
  createDelegate: createDelegate(deps),
  deleteDelegate: deleteDelegate(deps),
  getDelegate: getDelegate(deps),
  getOwnDelegate: getOwnDelegate(deps),
  listDelegates: listDelegates(deps),
  updateDelegate: updateDelegate(deps),
});
