import type { Pool } from '../../../shared/db/pool.ts';
import { findDelegates } from './find-delegates.ts';
import { putDelegate } from './put-delegate.ts';

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const delegateOperations = (deps: { pool: Pool }) => ({
  putDelegate: putDelegate(deps),
  findDelegates: findDelegates(deps),
});
