import { isRefunded } from '../../../sdk/src/books.ts';
import type { Output } from '../../../sdk/src/main.ts';
import type { Quote, Settlement } from './sales-figures.ts';

/** The history of one payment, in order. Pure. */

export type Refund = Output<'funding.listRefunds'>['data'][number];
export type Event = Output<'webhook.listEvents'>['data'][number];

const KINDS = [
  'quoted',
  'accepted',
  'authorized',
  'extended',
  'issued',
  'finalized',
  'redeemed',
  'refunded',
  'lapsed',
  'at_risk',
  'voided',
  'failed',
  'reversed',
] as const;
/** `added`: what an extension has added to the ceiling. */
export type Entry = { at: string; kind: (typeof KINDS)[number]; refund?: Refund; added?: string };

/**
 * Events have the time of the confirmation. They are stored for 30 days and arrive a moment late.
 * So the settlement's own states are listed without them, with the time of the attempt.
 */
export const storyOf = (
  settlement: Settlement,
  quote: Quote | undefined,
  events: readonly Event[],
  refunds: readonly Refund[],
): Entry[] => {
  const { status, chain_status, created_at, redeemed_at, redeem_expires_at } = settlement;
  const timeOf = (type: Event['type']) => events.find((event) => event.type === type)?.created_at;
  const { authorization } = settlement;
  const begun = authorization === undefined ? 'accepted' : 'authorized';
  const entries: Entry[] = [{ at: created_at, kind: begun }];
  const add = (kind: Entry['kind'], at: string | null | undefined, is = true) => {
    if (is && typeof at === 'string') entries.push({ at, kind });
  };
  add('quoted', quote?.created_at);
  const issued = timeOf('settlement.issued');
  const issuedAt = issued ?? created_at;
  // A payment of another protocol has no redeem window.
  const isWindowOfPaid = redeem_expires_at !== null && authorization === undefined;
  const wasIssued = isWindowOfPaid || status === 'issued' || status === 'redeemed' || issued !== undefined;
  // A redeem never precedes its payment. If the event is later, it was only recorded later.
  const paidAt = redeemed_at !== null && redeemed_at < issuedAt ? redeemed_at : issuedAt;
  add('issued', paidAt, wasIssued);
  add('finalized', timeOf('settlement.finalized'), chain_status === 'finalized');
  add('redeemed', redeemed_at);
  add('lapsed', redeem_expires_at, status === 'expired');
  add('at_risk', authorization?.at_risk_at);
  add('voided', authorization?.voided_at);
  const isReversed = wasIssued && chain_status === 'failed';
  add('reversed', timeOf('settlement.reversed') ?? timeOf('settlement.failed') ?? created_at, isReversed);
  add('failed', timeOf('settlement.failed') ?? created_at, status === 'failed' && !isReversed);
  for (const { created_at: at, amount } of settlement.extensions ?? [])
    entries.push({ at, kind: 'extended', added: amount });
  for (const refund of refunds) entries.push({ at: refund.created_at, kind: 'refunded', refund });
  return entries.sort(
    (a, b) => Date.parse(a.at) - Date.parse(b.at) || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind),
  );
};

/** A refund in any other state has used its part of the net amount, or may still use it. */
const GAVE_BACK: readonly Refund['status'][] = ['failed', 'cancelled', 'expired'];

/**
 * Parts of the net amount in micro-units: refunded, reserved for refunds, and left for another one.
 */
export const refundsOf = (net: bigint, refunds: readonly Refund[]) => {
  const sum = (of: readonly Refund[]) => of.reduce((all, { amount }) => all + BigInt(amount), 0n);
  const refunded = sum(refunds.filter(isRefunded));
  const reserved = sum(refunds.filter(({ status }) => !GAVE_BACK.includes(status))) - refunded;
  return { refunded, reserved, left: net - refunded - reserved };
};
