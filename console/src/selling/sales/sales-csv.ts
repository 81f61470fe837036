import { plainUsdc } from '../../../../sdk/src/generated/usdc.ts';
import { csvRow } from '../../lib/csv.ts';
import { isPaid, itemOf, keptOf, type Sale, type Settlement } from '../../payments/sales-figures.ts';
import type { Refund } from '../../payments/settlement-history.ts';

/**
 * Paid sales and their refunds as a CSV file. Each row is one movement of money with its own time,
 * so that the sum of a column is a figure of the books. Amounts are in USDC.
 */

const HEAD = [
  'at',
  'type',
  'settlement_id',
  'quote_id',
  'refund_id',
  'service_id',
  'service_name',
  'item',
  'rail',
  'state',
  'ceiling_usdc',
  'used_usdc',
  'gross_usdc',
  'fee_usdc',
  'billed_fee_usdc',
  'refund_usdc',
  'net_usdc',
  'payer',
  'tx_hash',
];

type PaidSale = Sale & { settlement: Settlement };
export const isPaidSale = (sale: Sale): sale is PaidSale =>
  sale.settlement !== null && isPaid(sale.settlement);

const usdc = (micro: string | bigint | undefined): string => (micro === undefined ? '' : plainUsdc(micro));

const saleRow = ({ serviceId, stage, settlement }: PaidSale, name: string): string => {
  const { authorization } = settlement;
  return csvRow([
    settlement.created_at,
    'sale',
    settlement.settlement_id,
    settlement.quote_id ?? '',
    '',
    serviceId,
    name,
    itemOf(settlement) ?? '',
    settlement.rail,
    stage,
    usdc(authorization?.max_amount),
    usdc(authorization?.used),
    usdc(settlement.quote_amount),
    usdc(settlement.fee_amount),
    usdc(settlement.accrued_fee ?? '0'),
    '',
    usdc(keptOf(settlement, 0n)),
    settlement.payer_address ?? '',
    settlement.tx_hash ?? '',
  ]);
};

const refundRow = (refund: Refund, { serviceId, settlement }: PaidSale, name: string): string =>
  csvRow([
    refund.created_at,
    'refund',
    settlement.settlement_id,
    settlement.quote_id ?? '',
    refund.refund_id,
    serviceId,
    name,
    itemOf(settlement) ?? '',
    settlement.rail,
    refund.status,
    '',
    '',
    '',
    '',
    '',
    usdc(refund.amount),
    `-${usdc(refund.amount)}`,
    settlement.payer_address ?? '',
    refund.tx_hash ?? '',
  ]);

/**
 * The lines of the file, with a row for each paid sale and each refund of it that is confirmed.
 * @param refunds the confirmed ones
 */
export const salesCsv = (
  sales: readonly Sale[],
  refunds: readonly Refund[],
  nameOf: (serviceId: string) => string | undefined,
): string[] => {
  const given = Map.groupBy(refunds, ({ settlement_id }) => settlement_id);
  return [
    csvRow(HEAD),
    ...sales.filter(isPaidSale).flatMap((sale) => {
      const name = nameOf(sale.serviceId) ?? '';
      const own = given.get(sale.settlement.settlement_id) ?? [];
      return [saleRow(sale, name), ...own.map((refund) => refundRow(refund, sale, name))];
    }),
  ];
};
