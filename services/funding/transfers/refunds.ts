import { notFound } from '../../../shared/contract/errors.ts';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { Deps, Reservation } from '../deps.ts';
import { findRefund, markReleased, type RefundRow, type Viewer } from './store/refunds.ts';

export type RefundCaller = PrincipalOf<readonly ['service_key', 'jwt']>;

/** Who reads: a service its own, an account what it gives and gets. */
export const readerOf = (caller: RefundCaller): Viewer =>
  caller.kind === 'service_key'
    ? { as: 'service', service_id: caller.service_id }
    : { as: 'either', account_id: caller.account_id };

/** Who acts: the vendor alone. */
export const vendorOf = (caller: RefundCaller): Viewer =>
  caller.kind === 'service_key'
    ? { as: 'service', service_id: caller.service_id }
    : { as: 'vendor', account_id: caller.account_id };

/** The viewer's refund. Another's does not exist for them. */
export const ownRefund = async (
  { pool }: Pick<Deps, 'pool'>,
  viewer: Viewer,
  refundId: string,
): Promise<RefundRow> => {
  const row = await findRefund(pool, viewer, refundId);
  if (row === null) throw notFound('refund');
  return row;
};

/** What is reserved for a refund; the same answer for every repeat, with what the chain says of the payment now. */
export const reserve = (
  deps: Deps,
  refund: { refund_id: string; settlement_id: string; amount: string | null },
  by: { account_id: string; service_id: string | null },
): Promise<Reservation> =>
  deps.reserveRefund({ ...refund, account_id: by.account_id, service_id: by.service_id });

/** The prepared transaction of a refund, out of the payout address of its quote. */
export const prepareRefund = (
  deps: Deps,
  refund: Pick<
    RefundRow,
    | 'refund_id'
    | 'settlement_id'
    | 'vendor_account_id'
    | 'payout_address'
    | 'payer_account_id'
    | 'destination_address'
  > & { amount: string; accepted_at: string },
) =>
  deps.prepareTransfer({
    transfer: 'refund',
    object_id: refund.refund_id,
    settlement_id: refund.settlement_id,
    // Their wallet gets the token account, so it counts against their quota: a vendor cannot use up another's.
    account_id: refund.payer_account_id,
    budget_account_id: refund.vendor_account_id,
    owner: refund.payout_address,
    destination: refund.destination_address,
    amount: refund.amount,
    accepted_at: refund.accepted_at,
  });

/** Gives back what a refund that is over had reserved. When settlement is away the background job does it later. */
export const release = async (deps: Deps, refundId: string): Promise<void> => {
  try {
    await deps.releaseRefund(refundId);
    await markReleased(deps.pool, refundId);
  } catch (error) {
    deps.logger.warn({ err: error, refund_id: refundId }, 'not released yet, tried again');
  }
};
