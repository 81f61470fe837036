import { sql } from '../../../shared/db/pool.ts';
import type { Rail } from '../core/rail.ts';
import type { Attempt } from '../record/store/accept-attempts.ts';
import { Dispatch, type DispatchRow, dispatchColumns } from '../record/store/stalled.ts';

/** Payments of a quote, which a wallet here makes. */
export const QUITTANCE: Rail<Attempt, DispatchRow> = {
  isOwn: sql.fragment`rail = 'quittance'`,
  // Longer once confirmed, since finality takes its time.
  mayStallFor: sql.fragment`case when chain_status = 'pending' then interval '15 seconds' else interval '45 seconds' end`,
  columns: dispatchColumns,
  claimed: Dispatch,
  termsOf: ({ settlementId, accountId, delegateId, walletId, claims }, createdAt) => ({
    settlement_id: settlementId,
    rail: 'quittance',
    payer_address: null,
    payees: null,
    quote_id: claims.quote_id,
    account_id: accountId,
    delegate_id: delegateId,
    wallet_id: walletId,
    service_id: claims.service_id,
    vendor_account_id: claims.vendor_account_id,
    quote_amount: BigInt(claims.quote_amount),
    fee_amount: BigInt(claims.fee_amount),
    scope: claims.scope,
    resource: null,
    redeem_window_seconds: claims.redeem_window_seconds,
    created_at: createdAt,
    ceiling: claims.capture === undefined ? null : BigInt(claims.quote_amount),
  }),
  mayBePaid:
    'records of this time were lost, and the chain has not shown yet whether this quote was paid; repeat with the same payment_attempt_id',
};
