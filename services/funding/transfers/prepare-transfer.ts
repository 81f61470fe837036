import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { Peers } from '../peers.ts';
import type { RefundRow } from './store/refunds.ts';
import type { WithdrawalRow } from './store/withdrawals.ts';

export type PrepareDeps = Pick<Peers, 'prepareTransfer'>;

/** Prepares the transaction of a refund, which is paid by the payout address of its quote. */
export const prepareRefund = (
  { prepareTransfer }: PrepareDeps,
  refund: Pick<
    RefundRow,
    | 'refund_id'
    | 'settlement_id'
    | 'vendor_account_id'
    | 'payout_address'
    | 'payer_account_id'
    | 'destination_address'
    | 'amount'
    | 'created_at'
  >,
) =>
  prepareTransfer({
    transfer: 'refund',
    object_id: refund.refund_id,
    settlement_id: refund.settlement_id,
    // The payer's wallet gets the token account, so it counts against the payer's quota. A vendor
    // cannot use up the quota of another account. A payer without an account is paid to a token
    // account that exists.
    account_id: refund.payer_account_id ?? refund.vendor_account_id,
    budget_account_id: refund.vendor_account_id,
    owner: refund.payout_address,
    destination: refund.destination_address,
    amount: formatMicro(refund.amount),
    accepted_at: isoTime(refund.created_at),
  });

/**
 * Prepares the transaction of a withdrawal. An earlier prepared transaction of it can no longer be
 * submitted.
 */
export const prepareWithdrawal = (
  { prepareTransfer }: PrepareDeps,
  row: Pick<
    WithdrawalRow,
    'withdrawal_id' | 'account_id' | 'owner' | 'amount' | 'destination_address' | 'created_at'
  >,
) =>
  prepareTransfer({
    transfer: 'withdrawal',
    object_id: row.withdrawal_id,
    settlement_id: null,
    account_id: row.account_id,
    budget_account_id: row.account_id,
    owner: row.owner,
    destination: row.destination_address,
    amount: formatMicro(row.amount),
    accepted_at: isoTime(row.created_at),
  });
