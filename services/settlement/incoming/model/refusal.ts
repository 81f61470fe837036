import type { IncomingReason } from '../../../../shared/contract/chain-submitter.ts';
import type { MoneyMoved } from '../../../../shared/contract/errors.ts';
import { moneyMovedBy } from '../../record/model/refusal.ts';
import type { ChainStatus, Status } from '../../record/model/status.ts';

/** Why a payment is refused. */
export type Refusal = {
  reason:
    | IncomingReason
    | 'payment_identifier_conflict'
    | 'facilitator_credit_exhausted'
    | 'vendor_frozen'
    | 'service_closing'
    | 'other_service'
    | 'quote_settled'
    | 'quote_expired'
    | 'too_many_open';
  message: string;
};

/** A refusal in the words of a rail, and whether the money of its payment has moved. */
export type Refused<R> = { kind: 'refused'; refusal: R; moved: MoneyMoved };

type Known = { service_id: string | null; status: Status; chain_status: ChainStatus };

/**
 * Whether the money of a presented payment has moved. The payment of another service may have, and
 * that is not this service's to know.
 * @param row the settlement of its message; null: there is none
 */
export const moneyMovedFor = (row: Known | null, serviceId: string): MoneyMoved =>
  row !== null && row.service_id !== serviceId ? 'unknown' : moneyMovedBy(row);

type Recorded = { rail: string; quote_amount: bigint; memo: string | null; quote_id: string | null };
/** `quoteId`: of a payment link; otherwise the request is of a vendor's own offer. */
type Asked = { rail: string; amountMicro: bigint; memo: string | null; quoteId?: string };

/**
 * Why a recorded payment is not the one that a request asks for, or null. It is judged by what was
 * recorded with it: fees, payees and fee payers of today say nothing about it.
 */
export const mismatchOf = (
  { rail, quote_amount, memo, quote_id }: Recorded,
  asked: Asked,
): (Refusal & { reason: 'amount_mismatch' | 'memo_mismatch' }) | null => {
  if (rail !== asked.rail)
    return {
      reason: 'amount_mismatch',
      message: `the payment was made by ${rail}, whose transfers are others`,
    };
  if (quote_amount !== asked.amountMicro)
    return { reason: 'amount_mismatch', message: `the payment was made for ${quote_amount} micro-units` };
  if (quote_id !== (asked.quoteId ?? null))
    return { reason: 'memo_mismatch', message: 'the payment was made for another payment link, or for none' };
  // A memo that was not required when the payment was accepted was not compared either.
  if (asked.memo !== null && memo !== asked.memo)
    return { reason: 'memo_mismatch', message: 'the payment was made for another memo' };
  return null;
};
