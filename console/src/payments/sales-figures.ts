import type { Output } from '../../../sdk/src/main.ts';
import { isPaid, itemOf, keptOf, type PaymentStage, stageOfPayment } from '../../../sdk/src/payment.ts';
import { isForBuyers } from './own-quotes.ts';

/** Sales: a vendor's quotes joined with their settlements. Pure; amounts are bigint micro-units. */

export type Quote = Output<'quote.list'>['data'][number];
export type Settlement = Output<'settlement.list'>['data'][number];

/** The stage of a sale: of a quote that nobody has paid, of its payment, or of what it extends. */
export type Stage = 'quoted' | 'unpaid' | 'extension' | PaymentStage;

/**
 * One sale. A payment has no quote if the quote is older than the window, and the reverse. A
 * payment of another protocol never has one.
 */
export type Sale = {
  /** Of the quote, or of the settlement if it has none. */
  id: string;
  at: string;
  serviceId: string;
  stage: Stage;
  quote: Quote | null;
  settlement: Settlement | null;
};

type Authorization = NonNullable<Settlement['authorization']>;
/** Whether the fee takes all that was used of an authorization, so that nobody pays it. */
export const isBelowFee = ({ used, least_capture }: Authorization): boolean =>
  used !== '0' && BigInt(used) < BigInt(least_capture);
/** The smallest fee of a capture. Use that does not exceed it is released. */
export const feeOf = ({ least_capture }: Authorization): bigint => BigInt(least_capture) - 1n;
/** Whether the fee takes a fourth or more of what was captured. */
export const hasHighFee = ({ authorization, quote_amount, fee_amount }: Settlement): boolean =>
  authorization !== undefined && BigInt(fee_amount) * 4n >= BigInt(quote_amount);

/** Whether a sale is a quote that nobody has paid. */
export const isUnpaidQuote = ({ stage }: Sale): boolean => stage === 'quoted' || stage === 'unpaid';

/** @param now milliseconds; entries that have expired since count as expired */
export const stageOf = (quote: Quote | null, settlement: Settlement | null, now: number): Stage => {
  // A quote whose payment failed can be paid again.
  if (settlement !== null && (quote === null || settlement.status !== 'failed'))
    return stageOfPayment(settlement, now);
  if (quote === null) return 'failed';
  const isPaying = quote.status === 'settled' || quote.status === 'settling';
  if (isPaying && quote.extends !== undefined) return 'extension';
  if (quote.status === 'settled') return 'paid';
  if (quote.status === 'settling') return 'paying';
  return quote.status === 'expired' || Date.parse(quote.expires_at) <= now ? 'unpaid' : 'quoted';
};

/**
 * Quotes and settlements as sales, newest first. A quote with several attempts is one sale, with
 * the attempt that did not fail.
 */
export const joinSales = (
  quotes: Iterable<Quote>,
  settlements: Iterable<Settlement>,
  now: number,
): Sale[] => {
  const paidBy = new Map<string, Settlement>();
  for (const settlement of settlements) {
    const id = settlement.quote_id ?? settlement.settlement_id;
    const other = paidBy.get(id);
    if (other === undefined || other.status === 'failed') paidBy.set(id, settlement);
  }
  const sales: Sale[] = [];
  for (const quote of quotes) {
    const settlement = paidBy.get(quote.quote_id) ?? null;
    paidBy.delete(quote.quote_id);
    sales.push({
      id: quote.quote_id,
      at: quote.created_at,
      serviceId: quote.service_id,
      stage: stageOf(quote, settlement, now),
      quote,
      settlement,
    });
  }
  for (const [id, settlement] of paidBy)
    sales.push({
      id,
      at: settlement.created_at,
      // An outgoing payment is no sale, so every sale has a service.
      serviceId: settlement.service_id!,
      stage: stageOf(null, settlement, now),
      quote: null,
      settlement,
    });
  return sales.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : a.id < b.id ? 1 : -1));
};

type Funnel = {
  quoted: number;
  /** Part of `quoted`, delivered or not. */
  paid: number;
  delivered: number;
  /** Part of `quoted` that expired unpaid. */
  unpaid: number;
  /** Part of `paid`: not redeemed within the window. */
  undelivered: number;
  /** Part of `quoted` that can still be paid, or is being paid. */
  open: number;
};

/**
 * How many sales with a quote for buyers reached which stage. A reversed payment does not count as
 * paid. The quote of an extension is part of the sale whose ceiling it extends. The console's own
 * quotes, and those that only try a price, are no sales.
 */
export const funnelOf = (sales: readonly Sale[]): Funnel => {
  const stages = sales
    .filter(({ quote }) => quote !== null && quote.extends === undefined && isForBuyers(quote))
    .map(({ stage }) => stage);
  const count = (...wanted: Stage[]) => stages.filter((stage) => wanted.includes(stage)).length;
  return {
    quoted: stages.length,
    paid: count('paid', 'delivered', 'undelivered'),
    delivered: count('delivered'),
    unpaid: count('unpaid', 'voided', 'failed', 'reversed'),
    undelivered: count('undelivered'),
    open: count('quoted', 'paying', 'authorized'),
  };
};

/** 7 of 9 → "78 %"; "100 %" and "0 %" only for all and nothing. */
export const percent = (part: number, whole: number): string => {
  if (whole === 0) return '–';
  const rounded = Math.round((part / whole) * 100);
  if (rounded === 100 && part < whole) return '99 %';
  if (rounded === 0 && part > 0) return '1 %';
  return `${rounded} %`;
};

/**
 * Micro-units. `net` is what is left after all fees and refunds. `accrued`: fees of x402 payments,
 * which are not part of `fees` and are paid separately.
 */
type Revenue = { gross: bigint; fees: bigint; refunded: bigint; net: bigint; accrued: bigint };
/** What was refunded of each payment that has a refund, in micro-units by settlement id. */
export type Refunded = ReadonlyMap<string, bigint>;

/**
 * The sales that a search finds: by the id of quote or settlement, transaction, payer, resource, or
 * a part of one of them.
 */
export const findSales = (sales: readonly Sale[], search: string): readonly Sale[] => {
  const wanted = search.trim().toLowerCase();
  if (wanted === '') return sales;
  return sales.filter(({ quote, settlement }) =>
    [
      quote?.quote_id,
      settlement?.settlement_id,
      quote?.extends,
      ...(settlement?.extensions ?? []).map(({ extension_id }) => extension_id),
      settlement?.quote_id,
      settlement?.tx_hash,
      settlement?.payer_address,
      settlement?.resource,
      settlement?.scope?.resource ?? quote?.scope?.resource,
      itemOf(settlement ?? { scope: quote!.scope }),
    ].some((text) => typeof text === 'string' && text.toLowerCase().includes(wanted)),
  );
};

/** The revenue: paid and not reversed, delivered or not. */
export const revenueOf = (sales: readonly Sale[], refundedOf: Refunded): Revenue => {
  const total = { gross: 0n, fees: 0n, refunded: 0n, net: 0n, accrued: 0n };
  for (const { settlement } of sales) {
    if (settlement === null || !isPaid(settlement)) continue;
    total.gross += BigInt(settlement.quote_amount);
    total.fees += BigInt(settlement.fee_amount);
    const refunded = refundedOf.get(settlement.settlement_id) ?? 0n;
    total.refunded += refunded;
    total.net += keptOf(settlement, refunded);
    total.accrued += BigInt(settlement.accrued_fee ?? 0);
  }
  return total;
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The revenue by UTC day of the payment (by UTC hour for a window of at most a day). Every day from
 * `from` up to `now` is listed, also without a sale.
 */
export const revenueByTime = (
  sales: readonly Sale[],
  from: number,
  now: number,
  refundedOf: Refunded,
): (Revenue & { from: number; hour: boolean })[] => {
  const hour = now - from <= DAY_MS;
  const size = hour ? HOUR_MS : DAY_MS;
  const startOf = (ms: number) => Math.floor(ms / size) * size;
  const parts = new Map<number, Sale[]>();
  for (let at = startOf(from); at <= now; at += size) parts.set(at, []);
  for (const sale of sales)
    if (sale.settlement !== null) parts.get(startOf(Date.parse(sale.settlement.created_at)))?.push(sale);
  return [...parts].map(([at, within]) => ({ ...revenueOf(within, refundedOf), from: at, hour }));
};
