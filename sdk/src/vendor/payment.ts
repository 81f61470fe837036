/** The payment behind a request that a handler is running for. */
export type PaywallPayment = {
  /** The settlement's id. */
  paymentId: string;
  /**
   * The same at every run for one payment: after a crash a handler can run a second time, and what
   * it does elsewhere is done once when it is keyed on this.
   */
  deliveryId: string;
  /** The price, USDC micro-units. */
  amount: string;
  requestId: string | null;
};

const payments = new WeakMap<object, PaywallPayment>();

/** The payment of a framework's request object, in its handler; undefined elsewhere. */
export const paymentOf = (request: object): PaywallPayment | undefined => payments.get(request);

export const setPayment = (request: object, payment: PaywallPayment): void => {
  payments.set(request, payment);
};
