import type { z } from 'zod';
import type { Deposit } from '../../../shared/contract/funding/deposits.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { DepositRow } from './store/deposits.ts';

/** Whether a deposit may still be paid at its page. */
const isPayable = ({ status }: DepositRow) => status === 'awaiting_payment' || status === 'processing';

/** A deposit as its account reads it. */
export const showDeposit = (row: DepositRow): z.infer<typeof Deposit> => {
  const amount = row.amount ?? row.promised_amount;
  return {
    deposit_id: row.deposit_id,
    status: row.status,
    wallet_id: row.wallet_id,
    provider: row.provider,
    fiat_currency: row.fiat_currency,
    fiat_amount: row.fiat_amount,
    amount: amount === null ? null : formatMicro(amount),
    redirect_url: isPayable(row) ? row.payment_url : null,
    tx_hash: row.tx_hash,
    problem:
      row.problem_code === null ? null : { code: row.problem_code, message: row.problem_message ?? '' },
    created_at: isoTime(row.created_at),
    expires_at: isoTime(row.expires_at),
    completed_at: isoTimeOrNull(row.completed_at),
  };
};
