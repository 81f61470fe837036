import type { Records } from '../../../shared/boot.ts';
import { capture } from '../authorizations/capture.ts';
import { close } from '../authorizations/close.ts';
import type { CloseAuthorizations } from '../authorizations/close-authorizations.ts';
import type { EndAuthorization } from '../authorizations/end-authorization.ts';
import type { RecordLostCapture } from '../authorizations/lost-capture.ts';
import { usage } from '../authorizations/usage.ts';
import { voidAuthorization } from '../authorizations/void.ts';
import { consume } from '../delivering/consume.ts';
import { redeem } from '../delivering/redeem.ts';
import { verify } from '../delivering/verify.ts';
import { get } from '../reading/get.ts';
import { getAccountActivity } from '../reading/get-account-activity.ts';
import { getSettlementActivity } from '../reading/get-settlement-activity.ts';
import { list } from '../reading/list.ts';
import { listByQuotes } from '../reading/list-by-quotes.ts';
import { listPaid } from '../reading/list-paid.ts';
import { sumSpentSince } from '../reading/sum-spent-since.ts';
import { type SettleDeps, settle } from '../settling/settle.ts';
import type { ServiceTerms } from '../terms.ts';

/** The operations of this noun. */
export const settlementOperations = (
  deps: SettleDeps &
    Pick<Records, 'reads'> &
    Pick<ServiceTerms, 'cursorKeys'> & {
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
  listPaid: listPaid(deps),
  getAccountActivity: getAccountActivity(deps),
  getSettlementActivity: getSettlementActivity(deps),
  sumSpentSince: sumSpentSince(deps),
});
