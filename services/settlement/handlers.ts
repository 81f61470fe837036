import type { operatorOperations } from '../../shared/contract/operator.ts';
import type { Handlers } from '../../shared/contract/service.ts';
import type { settlement } from '../../shared/contract/settlement.ts';
import { findDelegates } from './delegates/find-delegates.ts';
import { putDelegate } from './delegates/put-delegate.ts';
import type { Deps } from './deps.ts';
import { redriveSettlement } from './operator/redrive-settlement.ts';
import { setIntake } from './operator/set-intake.ts';
import { showCaps } from './operator/show-caps.ts';
import { showIntake } from './operator/show-intake.ts';
import { spentSince } from './payers/spent-since.ts';
import { releaseRefund } from './refunds/release-refund.ts';
import { reserveRefund } from './refunds/reserve-refund.ts';
import { consume } from './settlements/consume.ts';
import { findByQuotes } from './settlements/find-by-quotes.ts';
import { findPaid } from './settlements/find-paid.ts';
import { get } from './settlements/get.ts';
import { list } from './settlements/list.ts';
import { listPaid } from './settlements/list-paid.ts';
import { redeem } from './settlements/redeem.ts';
import { settle } from './settlements/settle.ts';
import { settlementActivity } from './settlements/settlement-activity.ts';
import { verify } from './settlements/verify.ts';

/** The service's own operations, for main.ts and for the tests that serve them over a real bus. */
export const handlers = (deps: Deps): Omit<Handlers<typeof settlement>, keyof typeof operatorOperations> => ({
  settle: settle(deps),
  redeem: redeem(deps),
  consume: consume(deps),
  verify: verify(deps),
  list: list(deps),
  get: get(deps),
  findByQuotes: findByQuotes(deps),
  putDelegate: putDelegate(deps),
  findDelegates: findDelegates(deps),
  settlementActivity: settlementActivity(deps),
  reserveRefund: reserveRefund(deps),
  releaseRefund: releaseRefund(deps),
  listPaid: listPaid(deps),
  findPaid: findPaid(deps),
  spentSince: spentSince(deps),
  showCaps: showCaps(deps),
  showIntake: showIntake(deps),
  setIntake: setIntake(deps),
  redriveSettlement: redriveSettlement(deps),
});
