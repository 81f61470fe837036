import { plainUsdc } from '../../../sdk/src/generated/usdc.ts';
import { csvRow } from '../lib/csv.ts';
import { isPaid, type Refunded, type Sale } from './sales-figures.ts';

/** Sales as a CSV file. Amounts are exact, in micro-units and in USDC. */

const HEAD = [
  'created_at',
  'settlement_id',
  'quote_id',
  'service_id',
  'service_name',
  'rail',
  'stage',
  'price_micro',
  'price_usdc',
  'fee_micro',
  'refunded_micro',
  'net_micro',
  'net_usdc',
  'payer',
  'resource',
  'tx_hash',
];

/** The lines of the file. A sale that is not paid has no fee, refund and net. */
export const salesCsv = (
  sales: readonly Sale[],
  refundedOf: Refunded,
  nameOf: (serviceId: string) => string | undefined,
): string[] => [
  csvRow(HEAD),
  ...sales.map(({ at, serviceId, stage, quote, settlement }) => {
    const price = BigInt((settlement ?? quote)!.quote_amount);
    const paid = settlement !== null && isPaid(settlement) ? settlement : null;
    const refunded = paid === null ? 0n : (refundedOf.get(paid.settlement_id) ?? 0n);
    const net = paid === null ? null : BigInt(paid.net_amount) - refunded;
    return csvRow([
      at,
      settlement?.settlement_id ?? '',
      quote?.quote_id ?? settlement?.quote_id ?? '',
      serviceId,
      nameOf(serviceId) ?? '',
      settlement?.rail ?? 'quittance',
      stage,
      String(price),
      plainUsdc(price),
      paid?.fee_amount ?? '',
      paid === null ? '' : String(refunded),
      net === null ? '' : String(net),
      net === null ? '' : plainUsdc(net),
      settlement?.payer_address ?? '',
      settlement?.resource ?? '',
      settlement?.tx_hash ?? '',
    ]);
  }),
];
