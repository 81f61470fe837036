import { sharedMap } from '../../shared-map.ts';
import type { Meter } from './meter.ts';

/** The payment of the request that a handler serves. */
export type PaywallPayment = {
  /** The settlement's id. */
  paymentId: string;
  /**
   * The same in every run for one payment. After a crash a handler can run a second time. Use this
   * id to make its side effects idempotent.
   */
  deliveryId: string;
  /** The price, or on a metered route the ceiling of the authorization, USDC micro-units. */
  amount: string;
  /** The address that signed a payment of x402 or MPP. Vendors do not learn that of ours: null. */
  payer: string | null;
  requestId: string | null;
  /** What the request costs. Only on a metered route. */
  meter?: Meter;
};

const payments = sharedMap<object, PaywallPayment>('payments');

/** The payment of a framework's request object inside its handler. Undefined elsewhere. */
export const paymentOf = (request: object): PaywallPayment | undefined => payments.get(request);

/**
 * The meter of a framework's request object inside its handler.
 * @throws TypeError if its route is not metered
 */
export const meterOf = (request: object): Meter => {
  const meter = payments.get(request)?.meter;
  if (meter === undefined)
    throw new TypeError('meterOf: the request is of no metered route; give its route a max, as in the guide');
  return meter;
};

export const setPayment = (request: object, payment: PaywallPayment): void => {
  payments.set(request, payment);
};
