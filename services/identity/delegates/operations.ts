import type { Records } from '../../../shared/boot.ts';
import type { Peers } from '../peers.ts';
import type { Terms } from '../terms.ts';
import { createDelegate } from './create-delegate.ts';
import { deleteDelegate } from './delete-delegate.ts';
import { getDelegate } from './get-delegate.ts';
import { getOwnDelegate } from './get-own-delegate.ts';
import { listDelegates } from './list-delegates.ts';
import { updateDelegate } from './update-delegate.ts';

/** The operations on delegates. */
export const delegateOperations = (deps: Records & Terms & Peers & { sendMailsNow: () => void }) => ({
  createDelegate: createDelegate(deps),
  deleteDelegate: deleteDelegate(deps),
  getDelegate: getDelegate(deps),
  getOwnDelegate: getOwnDelegate(deps),
  listDelegates: listDelegates(deps),
  updateDelegate: updateDelegate(deps),
});
