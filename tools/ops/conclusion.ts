import type { RecordEntry } from '../../shared/contract/operator.ts';
import { displayUsdc } from '../../shared/lib/usdc.ts';

type Details = RecordEntry['details'];

const minutesOf = (at: string): string => `${at.slice(0, 16).replace('T', ' ')} UTC`;
const usdcOf = ({ amount }: Details): string => displayUsdc(BigInt(String(amount)));

/** What the customer is told about a payment in a state. */
const adviceOf = (status: string, at: (what: string) => string | undefined, failure: string): string => {
  switch (status) {
    case 'pending':
      return 'The payment is open: it ends by itself, and must not be repeated with another id.';
    case 'failed':
      return `Not paid: no money moved${failure}. The customer can pay again.`;
    case 'issued': {
      const until = at('settlement expires if not redeemed');
      const window = until === undefined ? '' : ` until ${minutesOf(until)}`;
      return `Not redeemed: the vendor has not delivered, and can${window}. The customer repeats the call with the same payment.`;
    }
    case 'expired':
      return 'Not redeemed in time: the vendor has the money and has not delivered. The vendor delivers or refunds.';
    case 'redeemed':
      return `Redeemed at ${minutesOf(at('settlement redeemed') ?? '')}: the vendor says that it delivers. If nothing came, the vendor delivers again or refunds.`;
    case 'reversed':
      return 'A fork removed the payment: the money did not move. The customer can pay again.';
    default:
      return `The state is ${status}.`;
  }
};

/** One sentence about a settlement, from its own entries. */
const ofSettlement = (id: string, entries: readonly RecordEntry[]): string | null => {
  const find = (what: string) => entries.find((each) => each.what === what);
  const [accepted, state] = [find('attempt accepted'), find('recorded state')];
  if (accepted === undefined || state === undefined) return null;
  const issued = find('settlement issued');
  const paid =
    issued === undefined
      ? `${usdcOf(accepted.details)} asked at ${minutesOf(accepted.at)}`
      : `paid ${usdcOf(accepted.details)} at ${minutesOf(issued.at)}`;
  const { status, failure } = state.details;
  const reason = typeof failure === 'string' ? ` (${failure})` : '';
  const refunded = state.details.refund_reserved === undefined ? '' : ' A refund is recorded.';
  return `${id}: ${paid}. ${adviceOf(String(status), (what) => find(what)?.at, reason)}${refunded}`;
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
  if (declined !== undefined)
    return [
      `${declined.object_id}: not paid. ${usdcOf(declined.details)} were refused at ${minutesOf(declined.at)} ` +
        `(${declined.details.reason}); no money moved.`,
    ];
  return entries.some(({ what }) => what === 'approval requested')
    ? ['Not paid: the payment needs the approval of its owner; no money moved.']
    : [];
};
