import type { TokenVerifier } from '../../checks/tokens.ts';
import type { ReadSettlement } from '../../settle.ts';
import type { Fetch } from '../../transport.ts';
import type { Call } from '../base/call.ts';
import { NotDeliveredError, PaymentKeyReusedError } from '../base/errors.ts';
import type { PaymentRecord } from '../base/store.ts';
import { isOutgoing, type OutgoingPayments } from '../outgoing/outgoing-payments.ts';
import { createDelivery, ReleasedError } from '../payments/delivery.ts';
import type { Payments } from '../payments/payments.ts';
import { createPurchases } from './purchase.ts';
import { createRequests } from './requests.ts';

const RELEASED = 'The vendor releases each authorization and does not deliver. Nothing was paid.';

type ExchangeDeps = {
  fetch: Fetch;
  verify: TokenVerifier;
  read: ReadSettlement;
  payments: Payments;
  outgoing: OutgoingPayments;
};

/**
 * One logical request from its first try to the delivery. Invariants: it buys at most once. A
 * purchase is stored before it is sent and until it is delivered. A payment is presented only at
 * the paid address.
 */
export const createExchange = ({ fetch, verify, read, payments, outgoing }: ExchangeDeps) => {
  const delivery = createDelivery({ fetch, payments, read });
  const purchases = createPurchases({ verify, payments, delivery });
  const { request, requestPrepaid } = createRequests({
    fetch,
    verify,
    payments,
    delivery,
    purchases,
    outgoing,
  });

  const proceed = async (name: string, record: PaymentRecord, call: Call): Promise<Response> => {
    if (isOutgoing(record)) return (await outgoing.resume(name, record, call)) ?? take(name, call);
    if (record.quoteToken === null)
      return (record.settlement === null ? requestPrepaid : request)(name, record, call);
    const resume = async (): Promise<Response | null> => {
      const paid = record.settlement === null ? await payments.resume(name, record, call) : record;
      return paid === null ? null : delivery.collect(name, paid, call);
    };
    // A new attempt needs a new id, because the failure belongs to the old id.
    return (await purchases.orAnother(name, record, call, resume)) ?? take(name, call);
  };

  const take = async (name: string, call: Call, isAgain = false): Promise<Response> => {
    const record = await payments.claim(name, call);
    try {
      if (record.fingerprint !== call.fingerprint)
        throw new PaymentKeyReusedError('The key belongs to another request that is not delivered yet.');
      return await proceed(name, record, call);
    } catch (error) {
      if (!(error instanceof ReleasedError)) throw error;
      if (isAgain) throw new NotDeliveredError(RELEASED, record.settlement?.settlement_id ?? '', record.id);
    } finally {
      payments.unclaim(record.id);
    }
    return take(name, call, true);
  };

  /** @param name the name of the request in the store: its key, or its fingerprint */
  return (call: Call, name: string): Promise<Response> => take(name, outgoing.preferring(call));
};
