import { z } from 'zod';
import type { IncomingRail } from '../../../shared/contract/settlement.ts';
import { sql } from '../../../shared/db/pool.ts';
import type { Rail } from '../core/rail.ts';
import { isIncoming } from '../record/store/conditions.ts';
import type { IncomingRow } from '../record/store/incoming/incoming-payments.ts';

const Claimed = z.object({
  settlement_id: z.string(),
  generation: z.number(),
  message_hash: z.string(),
  source_account: z.string(),
  vendor_account_id: z.string(),
});
type ClaimedIncoming = z.infer<typeof Claimed>;

/** What differs between the protocols whose clients sign a payment. */
type Protocol = {
  /** Who pays our fee: the transaction, by a leg of its own, or the vendor, on its fee account. */
  fee: 'in_transaction' | 'accrues';
  /** Each offer of the protocol names a memo, so a payment without one pays no offer. */
  needsMemo: boolean;
};

export const PROTOCOLS: Record<IncomingRail, Protocol> = {
  x402: { fee: 'accrues', needsMemo: false },
  mpp: { fee: 'in_transaction', needsMemo: true },
};

/** Payments that a client of another protocol has signed. */
export const INCOMING: Rail<IncomingRow, ClaimedIncoming> = {
  isOwn: isIncoming,
  // A pending one without a transaction may still be in the hands of its call.
  mayStallFor: sql.fragment`case
    when chain_status = 'confirmed' then interval '45 seconds'
    when tx_hash is null then interval '70 seconds'
    else interval '15 seconds' end`,
  columns: sql.fragment`vendor_account_id,
    (select message_hash from incoming_payments as incoming where incoming.settlement_id = s.settlement_id) as message_hash,
    (select source_account from incoming_payments as incoming where incoming.settlement_id = s.settlement_id) as source_account`,
  claimed: Claimed,
  termsOf: (row, createdAt) => ({ ...row, created_at: createdAt, ceiling: null }),
  mayBePaid:
    'records of this time were lost, and the chain has this payment, which is refused as a new one; repeat it when the reason is removed',
};
