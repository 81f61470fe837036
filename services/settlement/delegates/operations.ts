import type { Pool } from '../../../shared/db/pool.ts';
import { listDelegateSpending } from './list-delegate-spending.ts';
import { upsertDelegate } from './upsert-delegate.ts';

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const delegateOperations = (deps: { pool: Pool }) => ({
  upsertDelegate: upsertDelegate(deps),
  listDelegateSpending: listDelegateSpending(deps),
});
