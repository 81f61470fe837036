import type { PaymentKind } from '../../accept-payment.ts';
import type { ExtendableTab, Refusal } from './answers.ts';
import type { Authorization, Left } from './authorizations.ts';
import type { Opening, Order, Taking } from './deliveries.ts';
import type { Incoming } from './incoming.ts';
import type { AcceptForeign } from './incoming-payments.ts';
import type { IncomingTerms } from './incoming-terms.ts';
import type { MeteredBill } from './metered-route.ts';

/**
 * The price of a request in USDC micro-units. With units it buys that many requests. On a metered
 * route it is the ceiling of what is captured.
 */
export type Bill = {
  resource: string;
  amount: string;
  units: number | null;
  /** Whether a repeat gets the stored answer. Otherwise it runs the handler again. */
  replays: boolean;
  /** How the use of a metered route is paid. Null: the whole amount is paid. */
  metered: MeteredBill | null;
  /** The same object for all requests of a route. */
  route: object;
  /** The network of who asks. Null: unknown. */
  network?: string | null;
  /** Who asks only tries the price. */
  isTrial?: boolean;
  /** The tab whose ceiling it extends by its amount. Otherwise it is for a new payment. */
  extends?: Pick<ExtendableTab, 'quoteId' | 'ceiling'>;
};

/** What a quote of a bill is for. */
export const scopeOf = ({
  resource,
  units,
  metered,
  isTrial,
}: Bill): { resource: string; units?: number; tab?: true; trial?: true } => ({
  resource,
  ...(units !== null && { units }),
  ...(metered?.isTab === true && { tab: true }),
  ...(isTrial === true && { trial: true }),
});

/** True if a payment of exactly this amount buys one request, as other protocols need it. */
export const isFixedPrice = ({ units, metered }: Bill): boolean => units === null && metered === null;

/**
 * The part of the 402 of one dialect. Its field and header names must not collide with another
 * dialect's.
 */
export type Offer = {
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
  /**
   * Challenges of MPP, as WWW-Authenticate has them. Those of all dialects share this header, and a
   * request's Accept-Payment chooses among them.
   */
  challenges?: readonly (PaymentKind & { text: string })[];
};

/**
 * A payment that a request presents. If the store has a record of it, the record decides. Otherwise
 * `mismatch` does.
 */
export type PresentedPayment = {
  /** Identifies the payment within the dialect. */
  id: string;
  /** Buys one delivery, also on a prepaid route. */
  isWhole?: true;
  /** What it pays. Its record keeps it, so that a repeat depends on no configuration. */
  order?: Order;
  /** Why the payment does not pay for this bill, or null. Judged before it has a record. */
  mismatch: (bill: Bill) => Promise<Refusal | null>;
  /** Redeems the payment, or consumes one unit, once. */
  take: (bill: Bill, taking: Taking) => Promise<Opening>;
  /** The authorization that metered routes use. */
  authorization?: {
    /** The quote that it has paid. */
    quoteId: string;
    /** When it was made, in epoch milliseconds. */
    madeAt: number;
    /** As this process serves it. */
    known: () => Authorization | undefined;
    /** Reads it. */
    open: () => Promise<Authorization | Refusal>;
    /** What the API says is left of it now. */
    read: () => Promise<Left | Refusal>;
  };
};

/** A payment of a request, by the dialect that has read it. */
export type Payment = PresentedPayment & {
  /** The name of its record in the store. */
  key: string;
  dialect: Dialect;
};

/**
 * A payment protocol that the 402 offers, with its own headers and body fields. The first dialect
 * that recognises a request's payment headers handles the request.
 */
export type Dialect = {
  name: string;
  /**
   * An error makes the answer a 503. A refusal is the answer.
   * @param refused why the payment of this dialect that the request presented is refused
   */
  offer: (bill: Bill, incoming: Incoming, refused: Refusal | null) => Promise<Offer | Refusal>;
  /** A 402 that refuses a payment of this dialect has new offers, as its clients expect. */
  offersAgain?: true;
  /**
   * Null if the request has no payment of this dialect. A refusal is the answer, and no other
   * dialect is tried.
   */
  read: (incoming: Incoming, bill: Bill) => Promise<PresentedPayment | Refusal | null>;
  /** Reports what the API does not know yet, before the process ends. */
  close?: () => Promise<void>;
};

/** What a dialect that settles at this API uses of its paywall. */
export type PaywallContext = {
  serviceId: string;
  publicUrl: string;
  /** Null while the API has not answered. Then the dialect has no offer. */
  findTerms: () => Promise<IncomingTerms | null>;
  accept: AcceptForeign;
};
/** Makes a dialect for one paywall. */
export type DialectFactory = (paywall: PaywallContext) => Dialect;
