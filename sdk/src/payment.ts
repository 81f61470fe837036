import type { Output } from './types.ts';

/** What a settlement of the API says, in words and figures. Pure; amounts are micro-units. */

export type Payment = Output<'settlement.get'>;

/**
 * The stage of a payment. `authorized`: a ceiling is held, and what is used is paid later.
 * `undelivered`: paid and not redeemed, within its window or, by x402 or MPP, which have none, up
 * to now; the money stays.
 */
export type PaymentStage =
  | 'paying'
  | 'authorized'
  | 'paid'
  | 'undelivered'
  | 'delivered'
  | 'voided'
  | 'failed'
  | 'reversed';

/** One word for each stage, for buyer and vendor, in the console and the command. */
export const STAGE_WORDS: Readonly<Record<PaymentStage, string>> = {
  paying: 'pending',
  authorized: 'authorized',
  paid: 'paid',
  delivered: 'delivered',
  undelivered: 'not delivered',
  voided: 'void',
  failed: 'failed',
  reversed: 'reversed',
};

const STAGES: Readonly<Record<Exclude<Payment['status'], 'issued' | 'expired'>, PaymentStage>> = {
  pending: 'paying',
  authorized: 'authorized',
  capturing: 'paying',
  redeemed: 'delivered',
  voided: 'voided',
  failed: 'failed',
};

/** Whether a payment was made to a vendor that does not use Quittance. */
export const isOutgoingRail = (rail: Payment['rail']): boolean => rail === 'x402_out' || rail === 'mpp_out';

/** @param now milliseconds; what has expired since counts as expired */
export const stageOfPayment = (
  { status, chain_status, rail, redeem_expires_at: until }: Payment,
  now: number,
): PaymentStage => {
  if (status !== 'failed' && chain_status === 'failed') return 'reversed';
  if (status !== 'issued' && status !== 'expired') return STAGES[status];
  // A vendor elsewhere delivers on its own terms.
  if (isOutgoingRail(rail)) return 'paid';
  // A payment of another protocol has no window.
  if (rail !== 'quittance' || status === 'expired') return 'undelivered';
  return until !== null && Date.parse(until) <= now ? 'undelivered' : 'paid';
};

/** Whether the vendor has the money of a payment, before refunds. */
export const isPaid = ({ status, chain_status }: Payment): boolean =>
  (status === 'issued' || status === 'redeemed' || status === 'expired') && chain_status !== 'failed';

/**
 * What a payment moves, or is moving. Of an authorization it is what was captured, and nothing
 * before. What failed or was reversed has moved nothing.
 */
export const movedOf = (payment: Payment): bigint =>
  isPaid(payment) || (payment.status === 'pending' && payment.authorization === undefined)
    ? BigInt(payment.quote_amount)
    : 0n;

/** What the vendor keeps of a payment, after its fee, also one that is billed, and refunds. */
export const keptOf = ({ net_amount, accrued_fee }: Payment, refunded: bigint): bigint =>
  BigInt(net_amount) - BigInt(accrued_fee ?? 0) - refunded;

/** What is sold: the title of a payment link, or the address. Null: nothing says so. */
export const itemOf = ({ scope, resource }: Pick<Payment, 'scope' | 'resource'>): string | null => {
  const link = scope?.payment_link as { title?: unknown } | null | undefined;
  const named = [link?.title, scope?.resource, resource].find((text) => typeof text === 'string');
  return (named as string | undefined) ?? null;
};
