import type { RecordEntry } from '../../shared/contract/operator.ts';
import { DECLINES, type DeclineReason } from '../../shared/contract/settlement/declines.ts';
import { isOutgoingRail } from '../../shared/contract/settlement/rail.ts';
import { displayUsdc } from '../../shared/lib/money/usdc.ts';

type Details = RecordEntry['details'];

/** A time as people read it: `2026-11-28 14:07 UTC`. */
export const minutesOf = (at: string): string => `${at.slice(0, 16).replace('T', ' ')} UTC`;
const usdcOf = ({ amount }: Details): string => displayUsdc(BigInt(String(amount)));

/** What the customer is told about a payment in a state. */
const adviceOf = (
  { status, chain_status, failure }: Details,
  at: (what: string) => string | undefined,
): string => {
  switch (status) {
    case 'pending':
      return 'The payment is open: it ends by itself, and must not be repeated with another id.';
    case 'authorized':
      return 'A ceiling is authorized and nothing is paid yet: the vendor captures what was used, or it ends by itself.';
    case 'capturing':
      return 'What was used is being paid: it ends by itself.';
    case 'voided':
      return 'The authorization ended without a payment: no money moved, and everything was released.';
    case 'failed':
      return `Not paid: no money moved${failure === undefined ? '' : ` (${failure})`}. The customer can pay again.`;
    case 'issued': {
      const until = at('settlement expires if not redeemed');
      const window = until === undefined ? '' : ` until ${minutesOf(until)}`;
      return (
        `Not redeemed: the vendor has not delivered, and can${window}. Afterwards the vendor keeps the money and ` +
        'delivers by hand or refunds. The customer repeats the call with the same payment.'
      );
    }
    case 'expired': {
      const since = at('settlement expired');
      const end = since === undefined ? '' : ` (until ${minutesOf(since)})`;
      return `Not redeemed in time${end}: the vendor has the money and has not delivered. The vendor delivers or refunds.`;
    }
    case 'redeemed':
      if (chain_status === 'failed')
        return 'Redeemed, and a fork removed the payment for good: the customer was not charged, the vendor was not paid.';
      return `Redeemed at ${minutesOf(at('settlement redeemed') ?? '')}: the vendor says that it delivers. If nothing came, the vendor delivers again or refunds.`;
    default:
      return `The state is ${status}.`;
  }
};

/** A payment to a vendor elsewhere, whose delivery nothing records. */
const ELSEWHERE =
  'Paid to a vendor outside of Quittance: delivery and refund are between the customer and that vendor.';

/** One sentence about a settlement, from its own entries. Null: they are of something else. */
const ofSettlement = (id: string, entries: readonly RecordEntry[]): string | null => {
  const find = (what: string) => entries.find((each) => each.what === what);
  const [accepted, state] = [find('attempt accepted'), find('recorded state')];
  if (accepted === undefined || state === undefined) return null;
  const issued = find('settlement issued');
  // A capture pays a part of what was accepted.
  const paid =
    issued === undefined
      ? `${usdcOf(accepted.details)} asked at ${minutesOf(accepted.at)}`
      : `paid ${usdcOf((find('capture decided') ?? accepted).details)} at ${minutesOf(issued.at)}`;
  const isElsewhere = isOutgoingRail(String(accepted.details.rail)) && state.details.status === 'issued';
  const advice = isElsewhere ? ELSEWHERE : adviceOf(state.details, (what) => find(what)?.at);
  const refunded = state.details.refund_reserved === undefined ? '' : ' A refund is recorded.';
  return `${id}: ${paid}. ${advice}${refunded}`;
};

/** A reason of a decline as people read it. */
export const reasonText = (reason: Details[string] | undefined): string =>
  DECLINES[reason as DeclineReason]?.badge ?? String(reason).replaceAll('_', ' ');

const ofDecline = ({ object_id, at, details }: RecordEntry): string => {
  const { limit, left } = details;
  const figures =
    typeof limit === 'string' && typeof left === 'string'
      ? `; ${displayUsdc(left)} of ${displayUsdc(limit)} were left`
      : '';
  return (
    `${object_id}: not paid. ${usdcOf(details)} were refused at ${minutesOf(at)} ` +
    `(${reasonText(details.reason)}${figures}); no money moved.`
  );
};

/** What happened to one object, and what to tell the customer. Null: nothing is to be told. */
export const conclusionOf = (entries: readonly RecordEntry[]): string | null => {
  const first = entries[0];
  if (first === undefined) return null;
  const settled = ofSettlement(first.object_id, entries);
  if (settled !== null) return settled;
  if (first.what === 'payment declined') return ofDecline(first);
  return first.what === 'approval requested' && entries.some(({ what }) => what === 'approval expires')
    ? `${first.object_id}: not paid. The payment needs the approval of its owner; no money moved.`
    : null;
};

/**
 * What happened, and what to tell the customer, in one sentence for each payment. A refused payment
 * that has no settlement has one for its last refusal.
 */
export const conclusionsOf = (entries: readonly RecordEntry[]): string[] => {
  const byObject = Map.groupBy(entries, ({ object_id }) => object_id);
  const settlements = [...byObject].flatMap(([id, own]) => ofSettlement(id, own) ?? []);
  if (settlements.length > 0) return settlements;
  const declined = entries.findLast(({ what }) => what === 'payment declined');
  if (declined !== undefined) return [ofDecline(declined)];
  return [...byObject.values()].flatMap((own) => conclusionOf(own) ?? []);
};
