import { LINK_KEY, LinkScope } from '../../../shared/contract/quote.ts';
import type { ReceiptClaims } from '../../../shared/contract/settlement/receipts.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { type Payee, payeesOf } from '../../../shared/lib/money/payees.ts';
import { storedClaims } from '../../../shared/lib/tokens/compact-token.ts';
import { itemOfPayment } from '../record/model/item.ts';
import { type ConfirmedRow, statusNow } from '../record/view.ts';

export type Refunds = {
  refunds: ReceiptClaims['refunds'];
  count: number;
  /** Micro-units. */
  total: string;
};

/** What every receipt of this service has in common. */
export type Issuer = Pick<ReceiptClaims, 'iss' | 'env' | 'network'> & { mint: string };

/** What only the signed quote has. A payment of another protocol has it in its own columns. */
const termsOf = (row: ConfirmedRow) => {
  if (row.quote_token === null)
    return {
      quote: null,
      service_name: row.service_name!,
      payees: row.payees ?? vendorOf(row, row.payout_address!),
    };
  const { quote_id, issued_at, service_name, payout_address } = storedClaims(row.quote_token);
  return { quote: { quote_id, issued_at }, service_name, payees: vendorOf(row, payout_address) };
};

/** Who is paid by a payment to a vendor of ours. */
const vendorOf = ({ quote_amount, fee_amount }: ConfirmedRow, payout_address: string): Payee[] =>
  payeesOf({ pay_to: payout_address, amount: formatMicro(quote_amount - fee_amount) });

/** The link of a payment, from the key of the scope that only quotes of links have. */
const linkOf = ({ scope }: ConfirmedRow): string | null =>
  LinkScope.safeParse(scope).data?.[LINK_KEY].payment_link_id ?? null;

/**
 * The content of a receipt.
 * @param payer owner of the wallet that paid, or the address that signed
 * @param now epoch milliseconds
 */
export const claimsOf = (
  row: ConfirmedRow,
  { refunds, count, total }: Refunds,
  { payer, now, issuer: { mint, ...issuer } }: { payer: string; now: number; issuer: Issuer },
): ReceiptClaims => {
  const { quote, service_name, payees } = termsOf(row);
  return {
    ...issuer,
    iat: Math.floor(now / 1000),
    settlement_id: row.settlement_id,
    rail: row.rail,
    status: statusNow(row),
    chain_status: row.chain_status,
    quote,
    item: itemOfPayment(row),
    payment_link_id: linkOf(row),
    vendor: { service_id: row.service_id, service_name, payees },
    payer_address: payer,
    amount: {
      gross: formatMicro(row.quote_amount),
      fee: formatMicro(row.fee_amount),
      net: formatMicro(row.quote_amount - row.fee_amount),
      currency: 'USDC',
      mint,
    },
    transaction: { signature: row.tx_hash, superseded: row.superseded_tx_hashes },
    confirmed_at: isoTime(row.issued_at),
    redeemed_at: isoTimeOrNull(row.redeemed_at),
    refunds,
    refund_count: count,
    refunded: total,
  };
};
