import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { MAX_RECEIPT_REFUNDS } from '../../../shared/contract/settlement/receipts.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { listConfirmed } from './store/refunds.ts';

/** int.funding.listConfirmedRefunds. */
export const listConfirmedRefunds =
  ({ pool }: { pool: Pool }): Handler<typeof funding.internal.listConfirmedRefunds> =>
  async ({ settlement_id }) => {
    const rows = await listConfirmed(pool, settlement_id, MAX_RECEIPT_REFUNDS);
    return {
      refunds: rows.map(({ refund_id, amount, tx_hash, status, created_at }) => ({
        refund_id,
        amount: formatMicro(amount),
        signature: tx_hash,
        status,
        created_at: isoTime(created_at),
      })),
      count: rows[0]?.count ?? 0,
      total: formatMicro(rows[0]?.total ?? 0n),
    };
  };
