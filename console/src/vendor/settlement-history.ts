import type { Output } from '../../../sdk/src/main.ts';
import type { Quote, Settlement } from './sales-figures.ts';

/** What happened to one payment, in its order. Pure. */

export type Refund = Output<'funding.listRefunds'>['data'][number];
export type Event = Output<'webhook.listEvents'>['data'][number];

const KINDS = [
  'quoted',
  'accepted',
  'issued',
  'finalized',
  'redeemed',
  'refunded',
  'lapsed',
  'failed',
  'reversed',
] as const;
export type Entry = { at: string; kind: (typeof KINDS)[number]; refund?: Refund };

/**
 * Events tell when the chain confirmed; they are kept for 30 days and come a moment late, so what the settlement itself says
 * stands without them, at the time of the attempt.
 */
export const storyOf = (
  settlement: Settlement,
  quote: Quote | undefined,
  events: readonly Event[],
  refunds: readonly Refund[],
): Entry[] => {
  const { status, chain_status, created_at, redeemed_at, redeem_expires_at } = settlement;
  const timeOf = (type: Event['type']) => events.find((event) => event.type === type)?.created_at;
  const entries: Entry[] = [{ at: created_at, kind: 'accepted' }];
  const add = (kind: Entry['kind'], at: string | null | undefined, is = true) => {
    if (is && typeof at === 'string') entries.push({ at, kind });
  };
  add('quoted', quote?.created_at);
  const issuedAt = timeOf('settlement.issued') ?? created_at;
  // Nothing is redeemed that was not paid: where the event is the later one, it was only written down later.
  const paidAt = redeemed_at !== null && redeemed_at < issuedAt ? redeemed_at : issuedAt;
  add('issued', paidAt, redeem_expires_at !== null);
  add('finalized', timeOf('settlement.finalized'), chain_status === 'finalized');
  add('redeemed', redeemed_at);
  add('lapsed', redeem_expires_at, status === 'expired');
  const isReversed = redeem_expires_at !== null && chain_status === 'failed';
  add('reversed', timeOf('settlement.reversed') ?? timeOf('settlement.failed') ?? created_at, isReversed);
  add('failed', timeOf('settlement.failed') ?? created_at, status === 'failed' && !isReversed);
  for (const refund of refunds) entries.push({ at: refund.created_at, kind: 'refunded', refund });
  return entries.sort(
    (a, b) => Date.parse(a.at) - Date.parse(b.at) || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind),
  );
};

/** What a refund that is in none of these states has given back or may yet: it has its part of the net. */
const GAVE_BACK: readonly Refund['status'][] = ['failed', 'cancelled', 'expired'];
const MOVED: readonly Refund['status'][] = ['confirmed', 'finalized'];

/** Of the net, in micro-units: what was given back, what is set aside for it, and what is left for another refund. */
export const refundsOf = (net: bigint, refunds: readonly Refund[]) => {
  const sum = (of: readonly Refund[]) => of.reduce((all, { amount }) => all + BigInt(amount), 0n);
  const refunded = sum(refunds.filter(({ status }) => MOVED.includes(status)));
  const reserved = sum(refunds.filter(({ status }) => !GAVE_BACK.includes(status))) - refunded;
  return { refunded, reserved, left: net - refunded - reserved };
};
