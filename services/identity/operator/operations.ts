import type { Records } from '../../../shared/boot.ts';
import { findAccounts } from './find-accounts.ts';
import { getAccountStatus } from './get-account-status.ts';
import { listAccountStatuses } from './list-account-statuses.ts';
import { setFrozen } from './set-frozen.ts';
import { setLimitFactor } from './set-limit-factor.ts';

/** The operators' operations on accounts. */
export const accountStatusOperations = (deps: Pick<Records, 'pool' | 'relay'>) => ({
  listAccountStatuses: listAccountStatuses(deps),
  setFrozen: setFrozen(deps),
  setLimitFactor: setLimitFactor(deps),
  getAccountStatus: getAccountStatus(deps),
  findAccounts: findAccounts(deps),
});
