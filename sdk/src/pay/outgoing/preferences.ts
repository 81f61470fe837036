import { ACCEPT_PAYMENT_HEADER } from '../../accept-payment.ts';
import { boundedMap } from '../../bounded-map.ts';
import { type Call, isCrossOrigin } from '../base/call.ts';
import { ACCEPTED_PAYMENT } from './mpp-offers.ts';

const MAX_ORIGINS = 1000;

/**
 * Says in Accept-Payment what this client pays, so that vendors of many payment methods answer with
 * less. Only vendors that have asked by MPP get the header: to others a request stays the caller's.
 */
export const createPreferences = () => {
  const asking = boundedMap<true>(MAX_ORIGINS);
  return {
    /** Remembers a vendor that has asked by MPP. */
    learn: ({ url }: Call): void => asking.set(new URL(url).origin, true),
    /** The call with the header, unless the caller has set its own, or a page's CORS forbids it. */
    add: (call: Call): Call => {
      const isAdded =
        asking.has(new URL(call.url).origin) &&
        !call.headers.has(ACCEPT_PAYMENT_HEADER) &&
        !isCrossOrigin(call);
      if (!isAdded) return call;
      const headers = new Headers(call.headers);
      headers.set(ACCEPT_PAYMENT_HEADER, ACCEPTED_PAYMENT);
      return { ...call, headers };
    },
  };
};
