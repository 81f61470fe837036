import type { Records } from '../../../shared/boot.ts';
import { NOBODY, withInspection } from '../../../shared/operator/inspections.ts';
import { findAccounts } from './find-accounts.ts';
import { getAccountStatus } from './get-account-status.ts';
import { listAccountStatuses } from './list-account-statuses.ts';
import { listWaitingMails } from './list-waiting-mails.ts';
import { setFrozen } from './set-frozen.ts';
import { setLimitFactor } from './set-limit-factor.ts';

/** The operators' operations on accounts. */
export const accountStatusOperations = (deps: Pick<Records, 'pool' | 'relay'>) => ({
  listAccountStatuses: withInspection(deps.pool, 'status', listAccountStatuses(deps), (found) =>
    found.map(({ account_id }) => account_id),
  ),
  setFrozen: setFrozen(deps),
  setLimitFactor: setLimitFactor(deps),
  getAccountStatus: withInspection(deps.pool, 'status', getAccountStatus(deps), (found) =>
    found === null ? [] : [found.account_id],
  ),
  // That nobody has an address is something about a person, too.
  findAccounts: withInspection(deps.pool, 'search', findAccounts(deps), (found) =>
    found.length === 0 ? [NOBODY] : found.map(({ account_status }) => account_status.account_id),
  ),
  listWaitingMails: listWaitingMails(deps),
});
