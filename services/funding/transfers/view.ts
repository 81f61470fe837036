import type { z } from 'zod';
import type { Refund } from '../../../shared/contract/funding/refunds.ts';
import type { Withdrawal } from '../../../shared/contract/funding/withdrawals.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { statusNow } from './model/pending.ts';
import type { RefundRow } from './store/refunds.ts';
import type { WithdrawalRow } from './store/withdrawals.ts';

/** The fields that withdrawals and refunds have in common. */
const showTransfer = (row: WithdrawalRow | RefundRow) => ({
  amount: formatMicro(row.amount),
  destination_address: row.destination_address,
  destination_token_account: row.destination_token_account,
  tx_hash: row.tx_hash,
  failure:
    row.failure_code === null
      ? null
      : { code: row.failure_code, message: row.failure_message ?? 'the transaction failed' },
  created_at: isoTime(row.created_at),
  confirmed_at: isoTimeOrNull(row.confirmed_at),
  pending_until: isoTime(row.pending_until),
});

/** A withdrawal as its owner reads it. */
export const showWithdrawal = (row: WithdrawalRow): z.infer<typeof Withdrawal> => ({
  withdrawal_id: row.withdrawal_id,
  status: statusNow(row),
  wallet_id: row.wallet_id,
  ...showTransfer(row),
});

/** A refund as its vendor and its payer read it. */
export const showRefund = (row: RefundRow): z.infer<typeof Refund> => ({
  refund_id: row.refund_id,
  status: statusNow(row),
  settlement_id: row.settlement_id,
  service_id: row.service_id,
  payout_address: row.payout_address,
  ...showTransfer(row),
  reason: row.reason,
});
