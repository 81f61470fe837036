import { z } from 'zod';
import { sql } from '../../../shared/db/pool.ts';
import type { Rail } from '../settlements/rail.ts';
import { type IncomingRow, isIncoming } from '../settlements/store/incoming-payments.ts';

const Claimed = z.object({
  settlement_id: z.string(),
  generation: z.number(),
  message_hash: z.string(),
  source_account: z.string(),
  vendor_account_id: z.string(),
});
type ClaimedIncoming = z.infer<typeof Claimed>;

/** Payments that a client of another protocol has signed. */
export const INCOMING: Rail<IncomingRow, ClaimedIncoming> = {
  isOwn: isIncoming,
  // A pending one without a transaction may still be in the hands of its call.
  mayStallFor: sql.fragment`case
    when chain_status = 'confirmed' then interval '45 seconds'
    when tx_hash is null then interval '70 seconds'
    else interval '15 seconds' end`,
  claimed: Claimed,
  termsOf: (row, createdAt) => ({ ...row, scope: null, created_at: createdAt }),
  mayBePaid:
    'records of this time were lost, and the chain has this payment, which is refused as a new one; repeat it when the reason is removed',
};
