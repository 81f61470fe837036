import type { Client } from './client.ts';
import { isPaid, keptOf, type Payment } from './payment.ts';
import type { Output } from './types.ts';

/**
 * The books of a vendor: each movement of money once, at the time at which it was first seen
 * confirmed. So the books of spans that do not overlap add up to those of all of them. A refund is
 * in the span in which it was made, whenever its sale was.
 */

type Refund = Output<'funding.listRefunds'>['data'][number];

/** Whether the money of a refund has moved. */
export const isRefunded = ({ status }: Pick<Refund, 'status'>): boolean =>
  status === 'confirmed' || status === 'finalized';

/** A paid sale, or a refund of one. */
export type Booking = {
  /** ISO 8601 UTC. */
  at: string;
  /** The sale, also of a refund. */
  settlement: Payment;
  /** Null: the sale itself. */
  refund: Refund | null;
};

/** Milliseconds. `until` is not part of it. */
export type Span = { from: number; until: number };

const DAY_MS = 86_400_000;
/**
 * Lists are in the order in which things were created, and something is confirmed later: an
 * authorization is captured within 7 days, and a refund signed within one. The eighth day is for a
 * slow chain.
 */
const LEAD_MS = 8 * DAY_MS;
/** The moment from which a list is read for what is confirmed since another one. */
export const createdSince = (from: number): number => from - LEAD_MS;

const isIn = ({ from, until }: Span, at: string | null): at is string =>
  at !== null && Date.parse(at) >= from && Date.parse(at) < until;

/**
 * The refunds that were made in a span.
 * @param refunds of all states
 */
export const refundsIn = (refunds: readonly Refund[], span: Span): readonly Refund[] =>
  refunds.filter((refund) => isRefunded(refund) && isIn(span, refund.confirmed_at));

/**
 * The bookings of a span, newest first.
 * @param settlements also those of the refunds, whenever they were paid
 */
export const bookingsOf = (
  settlements: readonly Payment[],
  refunds: readonly Refund[],
  span: Span,
): readonly Booking[] => {
  const settlementOf = new Map(settlements.map((each) => [each.settlement_id, each]));
  const sales = settlements
    .filter((each) => isPaid(each) && isIn(span, each.confirmed_at))
    .map((settlement): Booking => ({ at: settlement.confirmed_at!, settlement, refund: null }));
  const given = refundsIn(refunds, span).map((refund): Booking => {
    const settlement = settlementOf.get(refund.settlement_id)!;
    return { at: refund.confirmed_at!, settlement, refund };
  });
  return [...sales, ...given].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
};

/** What a booking adds to each figure, in micro-units. A refund has a part in `net` alone. */
export const amountsOf = ({ settlement, refund }: Booking) => {
  if (refund !== null) {
    const refunded = BigInt(refund.amount);
    return { gross: 0n, fees: 0n, accrued: 0n, refunded, net: -refunded };
  }
  return {
    gross: BigInt(settlement.quote_amount),
    fees: BigInt(settlement.fee_amount),
    accrued: BigInt(settlement.accrued_fee ?? 0),
    refunded: 0n,
    net: keptOf(settlement, 0n),
  };
};

type Filter = { serviceId?: string | undefined; rail?: Payment['rail'] | undefined };

/** The items of a list, newest first, back to a moment. */
const readBack = async <T extends { created_at: string }>(
  items: AsyncIterable<T>,
  since: string,
  onRead: () => void = () => undefined,
): Promise<T[]> => {
  const read: T[] = [];
  for await (const item of items) {
    if (item.created_at < since) break;
    read.push(item);
    onRead();
  }
  return read;
};

/**
 * Reads the bookings of a span from the API, with the sales of its refunds.
 * @param onRead gets the number of sales that are read, now and then
 */
export const readBookings = async (
  client: Pick<Client, 'settlement' | 'funding'>,
  span: Span,
  { serviceId, rail }: Filter = {},
  onRead: (count: number) => void = () => undefined,
): Promise<readonly Booking[]> => {
  const since = new Date(createdSince(span.from)).toISOString();
  let count = 0;
  const settlements = await readBack(
    client.settlement.list({
      role: 'vendor',
      limit: '100',
      ...(serviceId !== undefined && { service_id: serviceId }),
      ...(rail !== undefined && { rail }),
    }),
    since,
    () => {
      count += 1;
      if (count % 100 === 0) onRead(count);
    },
  );
  const refunds = await readBack(client.funding.listRefunds({ role: 'vendor', limit: '100' }), since);
  const made = refundsIn(refunds, span).filter(
    ({ service_id }) => serviceId === undefined || service_id === serviceId,
  );
  const settlementOf = new Map(settlements.map((each) => [each.settlement_id, each]));
  for (const { settlement_id } of made)
    if (!settlementOf.has(settlement_id))
      settlementOf.set(settlement_id, await client.settlement.get({ settlement_id }));
  return bookingsOf([...settlementOf.values()], made, span).filter(
    ({ settlement }) => rail === undefined || settlement.rail === rail,
  );
};
