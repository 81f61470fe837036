import type { ServiceTerms } from '../terms.ts';
import { consume } from './consume.ts';
import { get } from './get.ts';
import { getAccountActivity } from './get-account-activity.ts';
import { getSettlementActivity } from './get-settlement-activity.ts';
import { list } from './list.ts';
import { listByQuotes } from './list-by-quotes.ts';
import { listPaid } from './list-paid.ts';
import { listPaidByIds } from './list-paid-by-ids.ts';
import { redeem } from './redeem.ts';
import { type SettleDeps, settle } from './settle.ts';
import { sumSpentSince } from './sum-spent-since.ts';
import { verify } from './verify.ts';

/** The operations of this noun. */
export const settlementOperations = (deps: SettleDeps & Pick<ServiceTerms, 'cursorKeys'>) => ({
  settle: settle(deps),
  redeem: redeem(deps),
  consume: consume(deps),
  verify: verify(deps),
  list: list(deps),
  get: get(deps),
  listByQuotes: listByQuotes(deps),
  listPaidByIds: listPaidByIds(deps),
  listPaid: listPaid(deps),
  getAccountActivity: getAccountActivity(deps),
  getSettlementActivity: getSettlementActivity(deps),
  sumSpentSince: sumSpentSince(deps),
});
