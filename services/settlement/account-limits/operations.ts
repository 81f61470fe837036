import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import { getAccountLimits } from './get-account-limits.ts';
import { updateAccountLimits } from './update-account-limits.ts';

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const accountLimitOperations = (deps: { pool: Pool; relay: Pick<Relay, 'dispatch'> }) => ({
  getAccountLimits: getAccountLimits(deps),
  updateAccountLimits: updateAccountLimits(deps),
});
