import type { ServiceTerms } from '../terms.ts';
import { capture } from './capture.ts';
import { close } from './close.ts';
import type { CloseAuthorizations } from './close-authorizations.ts';
import { consume } from './consume.ts';
import type { EndAuthorization } from './end-authorization.ts';
import { get } from './get.ts';
import { getAccountActivity } from './get-account-activity.ts';
import { getSettlementActivity } from './get-settlement-activity.ts';
import { list } from './list.ts';
import { listByQuotes } from './list-by-quotes.ts';
import { listPaid } from './list-paid.ts';
import { listPaidByIds } from './list-paid-by-ids.ts';
import type { RecordLostCapture } from './lost-capture.ts';
import type { RecordUses } from './record-uses.ts';
import { redeem } from './redeem.ts';
import { type SettleDeps, settle } from './settle.ts';
import { sumSpentSince } from './sum-spent-since.ts';
import { usage } from './usage.ts';
import { verify } from './verify.ts';
import { voidAuthorization } from './void.ts';

/** The operations of this noun. */
export const settlementOperations = (
  deps: SettleDeps &
    Pick<ServiceTerms, 'cursorKeys'> & {
      recordUses: RecordUses;
      endAuthorization: EndAuthorization;
      recordLostCapture: RecordLostCapture;
      closeAuthorizations: CloseAuthorizations;
    },
) => ({
  settle: settle(deps),
  redeem: redeem(deps),
  consume: consume(deps),
  usage: usage(deps),
  capture: capture(deps),
  void: voidAuthorization(deps),
  close: close(deps),
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
