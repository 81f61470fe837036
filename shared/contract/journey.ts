/**
 * What a person or program wants to get done, as an operator promises it: each has an objective
 * (deploy/observability/alerts/objectives.ts). A key declares a journey, its value says what it is.
 */
export const JOURNEYS = {
  pay: 'A payer opens a price, pays it, and learns what became of the payment.',
  deliver: 'A vendor, or the facilitator of its x402 server, accepts a payment and delivers what was paid.',
  sell: 'A vendor quotes a price, and manages its services, links, refunds and webhook endpoints.',
  'sign-in': 'A person signs in, and manages the account and its security.',
  agent: 'An owner gives a program a key with limits, and decides about the payments that need approval.',
  fund: 'An owner links a wallet, sets its spending limit, and moves money in and out.',
  read: 'Anybody reads what is recorded: lists, single objects, sums, public keys.',
} as const;

export type Journey = keyof typeof JOURNEYS;
