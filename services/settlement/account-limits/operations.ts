import type { Records } from '../../../shared/boot.ts';
import { getAccountLimits } from './get-account-limits.ts';
import { updateAccountLimits } from './update-account-limits.ts';

/** The operations of this noun. */
export const accountLimitOperations = (deps: Pick<Records, 'pool' | 'relay'>) => ({
  getAccountLimits: getAccountLimits(deps),
  updateAccountLimits: updateAccountLimits(deps),
});
