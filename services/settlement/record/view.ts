import type { z } from 'zod';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { Settlement } from '../../../shared/contract/settlement.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { storedClaims } from '../../../shared/lib/tokens/compact-token.ts';
import { leastCapture } from './model/authorization.ts';
import { itemOfPayment } from './model/item.ts';
import type { Scope, SettlementRow, Terms } from './store/settlements.ts';

type Caller = PrincipalOf<readonly ['service_key', 'jwt', 'delegate_key']>;

/** The caller's scope. Without a role, an account sees the payments that it made and received. */
export const scopeOf = (caller: Caller, role?: 'payer' | 'vendor'): Scope => {
  if (caller.kind === 'service_key') return { as: 'service', service_id: caller.service_id };
  if (caller.kind === 'delegate_key') {
    return { as: 'delegate', account_id: caller.account_id, delegate_id: caller.delegate_id };
  }
  return { as: role ?? 'either', account_id: caller.account_id };
};

/**
 * The status now: past its window a settlement counts as expired, even before the job has marked
 * it.
 */
export const statusNow = (row: Pick<SettlementRow, 'status' | 'elapsed'>): SettlementRow['status'] =>
  row.status === 'issued' && row.elapsed ? 'expired' : row.status;

/** A settlement that was confirmed. */
export type ConfirmedRow = SettlementRow & { issued_at: number; tx_hash: string };

/**
 * Whether the payment is confirmed, or was before the chain reversed it for good. A payment that a
 * fork removed is neither until it is confirmed again.
 */
export const isConfirmed = (row: SettlementRow): row is ConfirmedRow =>
  row.issued_at !== null && row.tx_hash !== null && row.chain_status !== 'pending';

/** The units of a prepaid settlement; nothing for another one. */
export const unitsShown = ({
  units_total,
  units_consumed,
}: Pick<SettlementRow, 'units_total' | 'units_consumed'>) =>
  units_total === null ? {} : { units_total, units_remaining: units_total - Number(units_consumed) };

type AuthorizationColumns = Pick<
  SettlementRow,
  | 'quote_token'
  | 'usable'
  | 'ceiling'
  | 'used'
  | 'mode'
  | 'unit_price'
  | 'ends_at'
  | 'at_risk_at'
  | 'voided_at'
>;

/** The end of the redeem window, or of that in which an authorization is captured. */
export const endOfWindow = ({
  ends_at,
  redeem_expires_at,
}: Pick<SettlementRow, 'ends_at' | 'redeem_expires_at'>): string | null =>
  isoTimeOrNull(ends_at ?? redeem_expires_at);

/** The ceiling of an authorization and what is used of it; nothing for another payment. */
export const authorizationShown = (row: AuthorizationColumns) => {
  const { ceiling, used, usable } = row;
  return ceiling === null || used === null
    ? {}
    : {
        authorization: {
          mode: row.mode!,
          max_amount: formatMicro(ceiling),
          used: formatMicro(used),
          left: formatMicro(usable ? ceiling - used : 0n),
          unit_price: row.unit_price === null ? null : formatMicro(row.unit_price),
          least_capture: formatMicro(leastCapture(storedClaims(row.quote_token!).capture!)),
          capture_ends_at: isoTime(row.ends_at!),
          at_risk_at: isoTimeOrNull(row.at_risk_at),
          voided_at: isoTimeOrNull(row.voided_at),
        },
      };
};

/** Gross, fee and net as the API shows them. */
export const amountsOf = (row: Pick<SettlementRow, 'quote_amount' | 'fee_amount'>) => ({
  quote_amount: formatMicro(row.quote_amount),
  fee_amount: formatMicro(row.fee_amount),
  net_amount: formatMicro(row.quote_amount - row.fee_amount),
});

const isPayer = (row: SettlementRow, caller: Caller): boolean =>
  caller.kind !== 'service_key' && caller.account_id === row.account_id;
const isVendor = (row: SettlementRow, caller: Caller): boolean => caller.account_id === row.vendor_account_id;

/**
 * Who pays. A payer of ours is shown once the payment is on the chain, where everybody can read it,
 * and as the receipt shows it. Who signed a payment of another protocol has told the vendor so.
 */
const payerAddressShown = (row: SettlementRow, payerAddress: string) =>
  isConfirmed(row) || row.rail !== 'quittance' ? { payer_address: payerAddress } : {};

/** What only a payment of another protocol has. */
const incomingShown = (row: SettlementRow, caller: Caller) =>
  row.rail === 'quittance'
    ? {}
    : {
        ...(row.resource !== null && { resource: row.resource }),
        ...(row.payees !== null && { payees: row.payees }),
        ...(isVendor(row, caller) && { redeem_id: row.redeem_id }),
        ...(isVendor(row, caller) && row.rail === 'x402' && { accrued_fee: formatMicro(row.accrued_fee) }),
      };
/** An extension of an authorization. Only the payer sees the attempt. */
const extensionShown = (
  { payment_attempt_id, created_at, ...extension }: NonNullable<SettlementRow['extensions']>[number],
  isOfPayer: boolean,
) => ({
  ...extension,
  created_at: isoTime(created_at),
  ...(isOfPayer && { payment_attempt_id }),
});

/** What only the payer may see. */
const payerShown = (row: SettlementRow) => ({
  payment_attempt_id: row.payment_attempt_id!,
  wallet_id: row.wallet_id!,
  delegate_id: row.delegate_id,
  ...(row.settlement_token !== null &&
    row.status !== 'failed' &&
    row.status !== 'voided' && { settlement_token: row.settlement_token }),
});

/**
 * A settlement as the caller may see it: only the payer sees token and attempt.
 * @param payerAddress as `getPayerAddresses` returns it
 */
export const showSettlement = (
  row: SettlementRow,
  caller: Caller,
  payerAddress: string,
): z.infer<typeof Settlement> => ({
  settlement_id: row.settlement_id,
  status: statusNow(row),
  chain_status: row.chain_status,
  rail: row.rail,
  quote_id: row.quote_id,
  service_id: row.service_id,
  service_name: row.service_name ?? storedClaims(row.quote_token!).service_name,
  ...amountsOf(row),
  scope: row.scope,
  ...unitsShown(row),
  ...authorizationShown(row),
  ...(row.extensions !== null && {
    extensions: row.extensions.map((one) => extensionShown(one, isPayer(row, caller))),
  }),
  tx_hash: row.tx_hash,
  superseded_tx_hashes: row.superseded_tx_hashes,
  created_at: isoTime(row.created_at),
  confirmed_at: isoTimeOrNull(row.issued_at),
  redeem_expires_at: endOfWindow(row),
  redeemed_at: isoTimeOrNull(row.redeemed_at),
  failure:
    row.failure_code === null
      ? null
      : { code: row.failure_code, message: row.failure_message ?? 'the payment failed' },
  ...payerAddressShown(row, payerAddress),
  ...incomingShown(row, caller),
  ...(isPayer(row, caller) && payerShown(row)),
});

/**
 * One settlement with its quote token. Lists leave the token out: with large scopes a page of them
 * would exceed the size of a message.
 */
export const showWithQuote = (
  row: SettlementRow,
  caller: Caller,
  payerAddress: string,
): z.infer<typeof Settlement> => ({
  ...showSettlement(row, caller, payerAddress),
  ...(isPayer(row, caller) && row.quote_token !== null && { quote_token: row.quote_token }),
});

/** Who pays whom, and how much, for the events. */
export const partiesOf = (row: Omit<Terms, 'scope'>) => ({
  rail: row.rail,
  account_id: row.account_id,
  delegate_id: row.delegate_id,
  wallet_id: row.wallet_id,
  payer_address: row.payer_address,
  service_id: row.service_id,
  vendor_account_id: row.vendor_account_id,
  quote_amount: formatMicro(row.quote_amount),
  fee_amount: formatMicro(row.fee_amount),
});
/** The same for a payment that was issued. */
export const paymentOf = (row: Omit<Terms, 'scope'>, issuedAt: number) => ({
  ...partiesOf(row),
  issued_at: isoTime(issuedAt),
});

/** A payment that was forked away counts as confirmed until its failure is proven. */
const PAID_STATUS = {
  none: 'confirmed',
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
  item: itemOfPayment(row),
  ...paymentOf(row, row.issued_at!),
});
