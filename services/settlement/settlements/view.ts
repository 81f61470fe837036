import type { z } from 'zod';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { Settlement } from '../../../shared/contract/settlement.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { storedClaims } from '../../../shared/lib/compact-token.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import type { SettlementRow, Terms, Scope } from './store/settlements.ts';

type Caller = PrincipalOf<readonly ['service_key', 'jwt', 'delegate_key']>;

/** Who reads, for the query: without a role, an account sees what it paid and what it was paid. */
export const scopeOf = (caller: Caller, role?: 'payer' | 'vendor'): Scope => {
  if (caller.kind === 'service_key') return { as: 'service', service_id: caller.service_id };
  if (caller.kind === 'delegate_key') {
    return { as: 'delegate', account_id: caller.account_id, delegate_id: caller.delegate_id };
  }
  return { as: role ?? 'either', account_id: caller.account_id };
};

/** Lifecycle status now: past its window a settlement counts as expired whether or not the job has marked it. */
export const statusNow = (row: Pick<SettlementRow, 'status' | 'elapsed'>): SettlementRow['status'] =>
  row.status === 'issued' && row.elapsed ? 'expired' : row.status;

/** The scope stands in the quote token that was signed, and nowhere else. */
export const quoteScopeOf = (row: Pick<SettlementRow, 'quote_token'>): QuoteClaims['scope'] =>
  storedClaims(row.quote_token).scope;

/** Of a prepaid settlement what was bought and what is left of it; of another nothing. */
export const unitsShown = ({
  units_total,
  units_consumed,
}: Pick<SettlementRow, 'units_total' | 'units_consumed'>) =>
  units_total === null ? {} : { units_total, units_remaining: units_total - units_consumed };

/** Gross, fee and net as the wire shows them. */
export const amountsOf = (row: Pick<SettlementRow, 'quote_amount' | 'fee_amount'>) => ({
  quote_amount: formatMicro(row.quote_amount),
  fee_amount: formatMicro(row.fee_amount),
  net_amount: formatMicro(row.quote_amount - row.fee_amount),
});

const isPayer = (row: SettlementRow, caller: Caller): boolean =>
  caller.kind !== 'service_key' && caller.account_id === row.account_id;

/** A settlement as the caller may see it: the token and the attempt are the payer's alone. */
export const showSettlement = (row: SettlementRow, caller: Caller): z.infer<typeof Settlement> => ({
  settlement_id: row.settlement_id,
  status: statusNow(row),
  chain_status: row.chain_status,
  quote_id: row.quote_id,
  service_id: row.service_id,
  service_name: storedClaims(row.quote_token).service_name,
  ...amountsOf(row),
  scope: quoteScopeOf(row),
  ...unitsShown(row),
  tx_hash: row.tx_hash,
  superseded_tx_hashes: row.superseded_tx_hashes,
  created_at: isoTime(row.created_at),
  redeem_expires_at: isoTimeOrNull(row.redeem_expires_at),
  redeemed_at: isoTimeOrNull(row.redeemed_at),
  failure:
    row.failure_code === null
      ? null
      : { code: row.failure_code, message: row.failure_message ?? 'the payment failed' },
  ...(isPayer(row, caller) && {
    payment_attempt_id: row.payment_attempt_id,
    wallet_id: row.wallet_id,
    delegate_id: row.delegate_id,
    ...(row.settlement_token !== null &&
      row.status !== 'failed' && { settlement_token: row.settlement_token }),
  }),
});

/** One settlement by itself. Not in lists: with a large scope a page of these tokens would be too large for the bus. */
export const showWithQuote = (row: SettlementRow, caller: Caller): z.infer<typeof Settlement> => ({
  ...showSettlement(row, caller),
  ...(isPayer(row, caller) && { quote_token: row.quote_token }),
});

/** Who pays whom, and how much, as other services are told it. */
export const partiesOf = (row: Terms) => ({
  account_id: row.account_id,
  delegate_id: row.delegate_id,
  wallet_id: row.wallet_id,
  service_id: row.service_id,
  vendor_account_id: row.vendor_account_id,
  quote_amount: formatMicro(row.quote_amount),
  fee_amount: formatMicro(row.fee_amount),
});
/** The same of a payment that was made. */
export const paymentOf = (row: Terms, issuedAt: number) => ({
  ...partiesOf(row),
  issued_at: isoTime(issuedAt),
});

/** Forked away and driven again counts as confirmed still: it is reversed when that is proven to be in vain. */
const PAID_STATUS = {
  pending: 'confirmed',
  confirmed: 'confirmed',
  finalized: 'finalized',
  failed: 'reversed',
} as const satisfies Record<SettlementRow['chain_status'], string>;

/** An issued settlement as a projection reads it. */
export const showPaid = (row: SettlementRow) => ({
  settlement_id: row.settlement_id,
  status: PAID_STATUS[row.chain_status],
  tx_hash: row.tx_hash!,
  ...paymentOf(row, row.issued_at!),
});
