import { consume } from './consume.ts';
import { get } from './get.ts';
import { getAccountActivity } from './get-account-activity.ts';
import { getSettlementActivity } from './get-settlement-activity.ts';
import { list } from './list.ts';
import { listByQuotes } from './list-by-quotes.ts';
import { listPaid } from './list-paid.ts';
import { listPaidByIds } from './list-paid-by-ids.ts';
import { redeem } from './redeem.ts';
import { settle } from './settle.ts';
import { sumSpentSince } from './sum-spent-since.ts';
import { verify } from './verify.ts';

type Deps = Parameters<typeof settle>[0] &
  Parameters<typeof redeem>[0] &
  Parameters<typeof consume>[0] &
  Parameters<typeof list>[0];

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const settlementOperations = (deps: Deps) => ({
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
