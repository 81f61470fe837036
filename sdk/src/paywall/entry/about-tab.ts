import { CLOSE_TAB_HEADER, USAGE_OF_HEADER } from '../../pay/base/dialects.ts';
import { answer, isUsedUp, type Refusal, unavailable } from '../base/answers.ts';
import type { Bill, Payment } from '../base/dialect.ts';
import type { Incoming } from '../base/incoming.ts';
import type { Log, LogError } from '../base/log.ts';
import { USAGE_HEADER } from '../base/meter.ts';
import type { Metered } from '../metered/metered.ts';

type Deps = { log: Log; logError: LogError; metered: Metered };

/** What the buyer of a tab asks the paywall itself. No handler runs for it. */
export const createAboutTab = ({ log, logError, metered }: Deps) => {
  /** Ends the tab. */
  const end = async (payment: Payment, bill: Bill): Promise<Response | Refusal> => {
    const refusal = await metered.end(payment, bill);
    if (refusal !== null && !isUsedUp(refusal)) return refusal;
    log({ event: 'closed', status: 202, resource: bill.resource, payment_id: payment.id });
    return answer(202, { status: 'closing' });
  };
  /** What a call has cost. */
  const showUsage = async (payment: Payment, bill: Bill, requestId: string | null) => {
    const found = requestId === null ? null : await metered.usageOf(payment, bill, requestId);
    if (found === null) return answer(404, { error: 'usage_unknown' });
    return typeof found === 'string' ? answer(200, { usage: found }, { [USAGE_HEADER]: found }) : found;
  };

  /** @returns null for a request that is to be served */
  return async (
    payment: Payment,
    bill: Bill,
    { header }: Incoming,
    requestId: string | null,
  ): Promise<Response | Refusal | null> => {
    if (bill.metered?.isTab !== true) return null;
    try {
      if (header(USAGE_OF_HEADER) !== null) return await showUsage(payment, bill, requestId);
      return header(CLOSE_TAB_HEADER) === null ? null : await end(payment, bill);
    } catch (error) {
      logError(error, { resource: bill.resource, payment_id: payment.id });
      return unavailable('store');
    }
  };
};
