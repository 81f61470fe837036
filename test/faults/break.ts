/**
 * Payments to our vendors by our clients or by those of others, to vendors of others, and to a
 * vendor with the SDK's paywall in every dialect, payments for what was used, and purchases through
 * gates.
 */
export const TRAFFIC_NAMES = ['own', 'x402', 'outgoing', 'paywall', 'tabs', 'gate'] as const;
export type TrafficName = (typeof TRAFFIC_NAMES)[number];

/** One invariant that does not hold, with the ids to search for. */
export type Break = {
  /** Null: the invariant is about the payments of all kinds. */
  traffic: TrafficName | null;
  invariant: string;
  what: string;
  /** When the calls of its payment were under way. */
  span?: [from: number, to: number];
};
