import { z } from 'zod';
import { sql } from '../../../shared/db/pool.ts';
import type { Rail } from '../core/rail.ts';
import { isOutgoingPayment } from '../record/store/conditions.ts';
import type { OutgoingAttempt } from '../record/store/outgoing/accept-outgoing.ts';
import { messageHandedOut } from '../record/store/outgoing/outgoing-payments.ts';

const Claimed = z.object({
  settlement_id: z.string(),
  generation: z.number(),
  account_id: z.string(),
  payment_attempt_id: z.string(),
  message_hash: z.string().nullable(),
});
export type ClaimedOutgoing = z.infer<typeof Claimed>;

/** Payments to vendors that do not use Quittance. */
export const OUTGOING: Rail<OutgoingAttempt, ClaimedOutgoing> = {
  isOwn: isOutgoingPayment,
  // One whose bytes were not handed out may still be in the hands of its call.
  mayStallFor: sql.fragment`case
    when chain_status = 'confirmed' or ${messageHandedOut} is null then interval '45 seconds'
    else interval '15 seconds' end`,
  columns: sql.fragment`account_id, payment_attempt_id, ${messageHandedOut} as message_hash`,
  claimed: Claimed,
  termsOf: (attempt, createdAt) => ({
    settlement_id: attempt.settlementId,
    rail: attempt.rail,
    payer_address: attempt.authority,
    payees: [...attempt.payees],
    quote_id: null,
    account_id: attempt.accountId,
    delegate_id: attempt.delegateId,
    wallet_id: attempt.walletId,
    service_id: null,
    vendor_account_id: null,
    quote_amount: attempt.amountMicro,
    fee_amount: 0n,
    scope: null,
    resource: attempt.resource,
    redeem_window_seconds: null,
    created_at: createdAt,
    ceiling: null,
  }),
  mayBePaid:
    'records of this time were lost, and the chain has not shown yet whether this attempt was paid; repeat with the same payment_attempt_id',
};
