import { sharedMap } from '../shared-map.ts';

/** The payment of the request that a handler serves. */
export type PaywallPayment = {
  /** The settlement's id. */
  paymentId: string;
  /**
   * The same in every run for one payment. After a crash a handler can run a second time. Use this
   * id to make its side effects idempotent.
   */
  deliveryId: string;
  /** The price, USDC micro-units. */
  amount: string;
  requestId: string | null;
};

const payments = sharedMap<object, PaywallPayment>('payments');

/** The payment of a framework's request object inside its handler. Undefined elsewhere. */
export const paymentOf = (request: object): PaywallPayment | undefined => payments.get(request);

export const setPayment = (request: object, payment: PaywallPayment): void => {
  payments.set(request, payment);
};
