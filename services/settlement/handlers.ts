import type { operatorOperations } from '../../shared/contract/operator.ts';
import type { Handlers } from '../../shared/contract/service.ts';
import type { settlement } from '../../shared/contract/settlement.ts';
import type { Deps } from './deps.ts';
import { consume } from './handlers/consume.ts';
import { get } from './handlers/get.ts';
import { getCaps } from './handlers/getCaps.ts';
import { getIntake } from './handlers/getIntake.ts';
import { getSettlementActivity } from './handlers/getSettlementActivity.ts';
import { list } from './handlers/list.ts';
import { listByQuotes } from './handlers/listByQuotes.ts';
import { listDelegateSpending } from './handlers/listDelegateSpending.ts';
import { listPaid } from './handlers/listPaid.ts';
import { listPaidByIds } from './handlers/listPaidByIds.ts';
import { redeem } from './handlers/redeem.ts';
import { redispatchSettlement } from './handlers/redispatchSettlement.ts';
import { releaseRefund } from './handlers/releaseRefund.ts';
import { reserveRefund } from './handlers/reserveRefund.ts';
import { setIntakePaused } from './handlers/setIntakePaused.ts';
import { settle } from './handlers/settle.ts';
import { sumSpentSince } from './handlers/sumSpentSince.ts';
import { upsertDelegate } from './handlers/upsertDelegate.ts';
import { verify } from './handlers/verify.ts';

/** The service's own operations, for main.ts and for the tests that serve them over a real bus. */
export const handlers = (deps: Deps): Omit<Handlers<typeof settlement>, keyof typeof operatorOperations> => ({
  settle: settle(deps),
  redeem: redeem(deps),
  consume: consume(deps),
  verify: verify(deps),
  list: list(deps),
  get: get(deps),
  listByQuotes: listByQuotes(deps),
  upsertDelegate: upsertDelegate(deps),
  listDelegateSpending: listDelegateSpending(deps),
  getSettlementActivity: getSettlementActivity(deps),
  reserveRefund: reserveRefund(deps),
  releaseRefund: releaseRefund(deps),
  listPaid: listPaid(deps),
  listPaidByIds: listPaidByIds(deps),
  sumSpentSince: sumSpentSince(deps),
  getCaps: getCaps(deps),
  getIntake: getIntake(deps),
  setIntakePaused: setIntakePaused(deps),
  redispatchSettlement: redispatchSettlement(deps),
});
