import type { Output } from '../../../../sdk/src/main.ts';

/** Texts of webhook events for users. The compiler reports event types without a text. */

export type Endpoint = Output<'webhook.getEndpoint'>;
export type Delivery = Output<'webhook.listDeliveries'>['data'][number];
export type Attempt = Delivery['attempts'][number];
export type Wanted = Endpoint['event_types'][number];
type EventType = Delivery['type'];

/** Every event that an endpoint may subscribe to. The test button sends `webhook.test` to any. */
const EVENTS: Record<Exclude<EventType, 'webhook.test'>, string> = {
  'quote.settling': 'Payment under way',
  'quote.settled': 'Paid',
  'quote.expired': 'Expired unpaid',
  'payment_link.paid': 'Paid and redeemed',
  'settlement.authorized': 'Authorized, nothing is paid yet',
  'settlement.extended': 'The ceiling was extended, nothing is paid yet',
  'settlement.at_risk': 'The buyer’s wallet no longer covers an authorization',
  'settlement.captured': 'Captured',
  'settlement.voided': 'Voided, nothing was paid',
  'settlement.issued': 'Paid (confirmed)',
  'settlement.finalized': 'Final on chain',
  'settlement.redeemed': 'Delivered (redeemed)',
  'settlement.expired': 'Not delivered in time',
  'settlement.failed': 'Failed, nothing was paid',
  'settlement.reversed': 'Reversed by a fork',
  'settlement.declined': 'Declined',
  'refund.submitted': 'Signed and sent',
  'refund.confirmed': 'Confirmed',
  'refund.finalized': 'Final',
  'refund.failed': 'Failed',
  'refund.cancelled': 'Cancelled',
  'refund.expired': 'Not signed in time',
  'withdrawal.submitted': 'Signed and sent',
  'withdrawal.confirmed': 'Confirmed',
  'withdrawal.finalized': 'Final',
  'withdrawal.failed': 'Failed',
  'withdrawal.cancelled': 'Cancelled',
  'withdrawal.expired': 'Not signed in time',
  'deposit.awaiting_payment': 'Waiting for your payment',
  'deposit.processing': 'Processing at the provider',
  'deposit.settling': 'Sent to the wallet',
  'deposit.completed': 'Arrived',
  'deposit.failed': 'Failed',
  'deposit.cancelled': 'Cancelled',
  'deposit.expired': 'Not paid in time',
  'delegate.created': 'Created',
  'delegate.updated': 'Changed',
  'delegate.deleted': 'Deleted',
  'delegate.exhausted': 'Stopped by a limit',
  'approval.requested': 'Waiting for approval',
  'approval.decided': 'Approved or denied',
  'key.rotated': 'Rotated',
  'key.revealed': 'Replaced with a mailed link',
  'key.ended': 'Ended',
};
const GROUPS = {
  quote: 'Quotes',
  payment_link: 'Payment links',
  settlement: 'Settlements',
  refund: 'Refunds',
  withdrawal: 'Withdrawals',
  deposit: 'Deposits',
  delegate: 'Agents (delegates)',
  approval: 'Approvals',
  key: 'Keys',
} as const;
type Group = keyof typeof GROUPS;

type WantedGroup = {
  heading: string;
  all: `${Group}.*`;
  types: readonly (readonly [Wanted, string])[];
};
/** The groups with their event types, as the form lists them. */
export const WANTED_GROUPS: readonly WantedGroup[] = (Object.keys(GROUPS) as Group[]).map((group) => ({
  heading: GROUPS[group],
  all: `${group}.*`,
  types: (Object.entries(EVENTS) as [Wanted, string][]).filter(([type]) => type.startsWith(`${group}.`)),
}));

/** "all events", or the names of the subscribed events. */
export const wantedText = (wanted: readonly Wanted[]): string =>
  wanted.includes('*') ? 'all events' : wanted.join(', ');

/** Why an endpoint is disabled, and how to enable it. */
export const OFF: Record<NonNullable<Endpoint['disabled_reason']>, string> = {
  owner: 'You turned this endpoint off.',
  failing:
    'Every delivery failed for five days. Find the cause in the log, repair your server, and turn the endpoint on again.',
  gone: 'Your server answered 410 Gone, which means “stop sending”.',
};

const FAILURES: Record<NonNullable<Attempt['error']>, string> = {
  timeout: 'timed out',
  unreachable: 'could not connect',
  not_resolved: 'host name not found',
  address_refused: 'not a public address',
  tls: 'invalid certificate',
  redirect: 'redirects are not followed',
  status: 'not a 2xx',
};

/** "200", "500, not a 2xx", "no answer in time". */
export const outcomeOf = ({ status_code, error }: Attempt): string =>
  [status_code, error === null ? null : FAILURES[error]].filter((part) => part !== null).join(', ');

/** The time until a moment: "23 h 59 min", or "a moment" shortly before. */
export const timeLeft = (until: string, now: number): string => {
  const minutes = Math.floor((Date.parse(until) - now) / 60_000);
  if (minutes < 1) return 'a moment';
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};
