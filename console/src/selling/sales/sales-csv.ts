import { amountsOf, type Booking } from '../../../../sdk/src/books.ts';
import { plainUsdc } from '../../../../sdk/src/generated/usdc.ts';
import { itemOf } from '../../../../sdk/src/payment.ts';
import { csvRow } from '../../lib/csv.ts';
import { type Settlement, stageOf } from '../../payments/sales-figures.ts';

/**
 * The books of a span as a CSV file. Each row is one movement of money with its own time, so that
 * the sum of a column is a figure of the books. Amounts are in USDC.
 */

type Context = {
  /** Milliseconds. */
  now: number;
  nameOf: (serviceId: string) => string | undefined;
};
type Cell = string | bigint | null | undefined;
type Show = (booking: Booking, context: Context) => Cell;

/** A cell that only sales have. */
const ofSale =
  (show: (settlement: Settlement, context: Context) => Cell): Show =>
  ({ settlement, refund }, context) =>
    refund === null ? show(settlement, context) : undefined;

const COLUMNS: readonly (readonly [name: string, show: Show])[] = [
  ['at', ({ at }) => at],
  ['type', ({ refund }) => (refund === null ? 'sale' : 'refund')],
  ['settlement_id', ({ settlement }) => settlement.settlement_id],
  ['quote_id', ({ settlement }) => settlement.quote_id],
  ['refund_id', ({ refund }) => refund?.refund_id],
  ['service_id', ({ settlement }) => settlement.service_id],
  // A deleted service is in no list.
  [
    'service_name',
    ({ settlement: { service_id, service_name } }, { nameOf }) => nameOf(service_id!) ?? service_name,
  ],
  ['item', ({ settlement }) => itemOf(settlement)],
  ['rail', ({ settlement }) => settlement.rail],
  ['state', ({ settlement, refund }, { now }) => refund?.status ?? stageOf(null, settlement, now)],
  ['ceiling_usdc', ofSale(({ authorization }) => authorization && BigInt(authorization.max_amount))],
  ['used_usdc', ofSale(({ authorization }) => authorization && BigInt(authorization.used))],
  ['gross_usdc', ofSale(({ quote_amount }) => BigInt(quote_amount))],
  ['fee_usdc', ofSale(({ fee_amount }) => BigInt(fee_amount))],
  ['billed_fee_usdc', ofSale(({ accrued_fee }) => BigInt(accrued_fee ?? 0))],
  ['refund_usdc', ({ refund }) => refund && BigInt(refund.amount)],
  ['net_usdc', (booking) => amountsOf(booking).net],
  ['payer', ({ settlement }) => settlement.payer_address],
  ['tx_hash', ({ settlement, refund }) => (refund ?? settlement).tx_hash],
];

const textOf = (cell: Cell): string => (typeof cell === 'bigint' ? plainUsdc(cell) : (cell ?? ''));

/** The lines of the file, with its header. */
export const salesCsv = (bookings: readonly Booking[], context: Context): string[] => [
  csvRow(COLUMNS.map(([name]) => name)),
  ...bookings.map((booking) => csvRow(COLUMNS.map(([, show]) => textOf(show(booking, context))))),
];
