import type { Refusal } from './answers.ts';
import type { Opening } from './deliveries.ts';
import type { Incoming } from './incoming.ts';

/** What is to be paid for a request: USDC micro-units; with units it buys that many requests. */
export type Bill = {
  resource: string;
  amount: string;
  units: number | null;
  /** The same object for all requests of a route. */
  route: object;
};

/** What a dialect puts into the 402. Names of body fields and headers must not collide with another dialect's. */
export type Offer = { body?: Record<string, unknown>; headers?: Record<string, string> };

/** A payment that a request presents, checked as far as no call is needed. */
export type Presented = {
  /** Names the payment, among all of the dialect. */
  id: string;
  /**
   * Takes the payment, or one unit of it, for this bill: once, whoever asks. `deliveryId` is the paywall's own; the same
   * one is let through again, so that a repeat after a crash is.
   */
  take: (bill: Bill, deliveryId: string) => Promise<Opening | 'exhausted'>;
};

/**
 * A way to pay that the 402 offers: ours, and others beside it, each with headers and body fields of its own. The first one
 * that recognises a request's payment headers handles it.
 */
export type Dialect = {
  name: string;
  /** What it throws makes the answer a 503; a refusal is the answer. */
  offer: (bill: Bill, incoming: Incoming) => Promise<Offer | Refusal>;
  /** Null: the request presents no payment of this dialect. A refusal is the answer; no other dialect is asked. */
  read: (incoming: Incoming, bill: Bill) => Promise<Presented | Refusal | null>;
};
