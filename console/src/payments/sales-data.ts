import { useEffect, useState } from 'react';
import { isRefunded } from '../../../sdk/src/books.ts';
import type { CallOptions, Client } from '../../../sdk/src/main.ts';
import { type Items, useItems, useRead } from '../api/data.ts';
import type { Rail } from './rail.ts';
import {
  joinSales,
  type Quote,
  type Refunded,
  revenueByTime,
  type Sale,
  type Settlement,
} from './sales-figures.ts';
import { useServices } from './select-service.tsx';
import type { Refund } from './settlement-history.ts';

/**
 * Reads sales. The API has no sums of them, so all sales of the period are read and summed here.
 */

/** The size of a page, and how many pages are read before the user is asked to continue. */
const PAGE = '100';
const MAX_PAGES = 10;
/**
 * How often the newest entries and the first pages are read. More pages are read proportionally
 * less often. With 12 + 10 calls a minute of the 120 that each list allows, several tabs can be
 * open.
 */
const HEAD_MS = 5000;
const BODY_MS = 60_000;

/**
 * Reads a list back to a moment.
 * @param pages the maximum number of pages
 * @returns true if it reached the moment
 */
const useBackTo = <T extends { created_at: string }>(
  items: Items<T>,
  from: number,
  pages: number,
): boolean => {
  const { data, error, isPending, hasMore, more, isLoadingMore } = items;
  const oldest = data.at(-1);
  // A list that failed before its first page reports that there is no more.
  const isRead = !isPending && (error === null || data.length > 0);
  const isThere = isRead && (!hasMore || (oldest !== undefined && Date.parse(oldest.created_at) < from));
  const goesOn =
    !isThere && !isPending && error === null && !isLoadingMore && data.length < pages * Number(PAGE);
  useEffect(() => {
    if (goesOn) more();
  }, [goesOn, more]);
  return isThere;
};

export type Sales = {
  /** The sales of the window, newest first. */
  sales: readonly Sale[];
  /** The time from which they are complete, in milliseconds: the window's start, or later. */
  since: number;
  /** The state of the unread part of the window: loading, or to be requested. */
  rest: 'none' | 'reading' | 'more';
  readMore: () => void;
  /** True once both lists were read. Before that, the figures are meaningless. */
  isKnown: boolean;
  error: unknown;
  again: () => void;
};

const isWhole = (head: readonly unknown[] | undefined) => head !== undefined && head.length < Number(PAGE);

/**
 * The sales of a window, refreshed while the page is visible.
 * @param from milliseconds
 * @param filter only of this service, only by this rail
 */
export const useSales = (
  from: number,
  now: number,
  { serviceId, rail }: { serviceId: string | undefined; rail: Rail | undefined },
): Sales => {
  const [pages, setPages] = useState(MAX_PAGES);
  const of = { service_id: serviceId, limit: PAGE };
  const ofSettlements = { ...of, rail, role: 'vendor' } as const;
  // Only a payment by Quittance has a quote.
  const listQuotes = async (client: Client, cursor: string | undefined, options: CallOptions) =>
    rail === undefined || rail === 'quittance'
      ? client.quote.list({ ...of, cursor }, options)
      : { data: [], next_cursor: null };
  const every = (BODY_MS * pages) / MAX_PAGES;
  const heads = useRead(
    ['sales', 'head', serviceId, rail],
    async (client, options) => {
      const [quotes, settlements] = await Promise.all([
        listQuotes(client, undefined, options),
        client.settlement.list(ofSettlements, options),
      ]);
      return { quotes: quotes.data, settlements: settlements.data };
    },
    { every: HEAD_MS },
  );
  const quotes = useItems(['sales', 'quotes', serviceId, rail], listQuotes, { every });
  const settlements = useItems(
    ['sales', 'settlements', serviceId, rail],
    (client, cursor, options) => client.settlement.list({ ...ofSettlements, cursor }, options),
    { every },
  );
  const areThere = [
    useBackTo(quotes, from, pages) || isWhole(heads.data?.quotes),
    useBackTo(settlements, from, pages) || isWhole(heads.data?.settlements),
  ];

  const quoteOf = new Map<string, Quote>();
  for (const quote of [...quotes.data, ...(heads.data?.quotes ?? [])]) quoteOf.set(quote.quote_id, quote);
  const settlementOf = new Map<string, Settlement>();
  for (const settlement of [...settlements.data, ...(heads.data?.settlements ?? [])])
    settlementOf.set(settlement.settlement_id, settlement);

  // If a list was not read to the window's start, entries older than its last item are incomplete.
  const reach = (list: readonly { created_at: string }[], isThere: boolean) =>
    isThere ? from : Math.max(from, Date.parse(list.at(-1)?.created_at ?? new Date(now).toISOString()));
  const since = Math.max(reach(quotes.data, areThere[0]!), reach(settlements.data, areThere[1]!));
  const error = quotes.error ?? settlements.error ?? heads.error;
  const isFull = [quotes, settlements].some(
    ({ data, hasMore }, i) => hasMore && !areThere[i] && data.length >= pages * Number(PAGE),
  );
  return {
    sales: joinSales(quoteOf.values(), settlementOf.values(), now).filter(
      ({ at }) => Date.parse(at) >= since,
    ),
    since,
    rest: areThere.every(Boolean) ? 'none' : isFull || error !== null ? 'more' : 'reading',
    readMore: () => setPages(pages + MAX_PAGES),
    isKnown: heads.data !== undefined && !quotes.isPending && !settlements.isPending,
    error,
    again: () => {
      heads.again();
      quotes.again();
      settlements.again();
    },
  };
};

/** How often the revenue of the home page is read. */
const REVENUE_MS = 15_000;

/**
 * A vendor's net revenue by UTC day, oldest first, today last. Null while it is loaded.
 * @returns `since` is later than the window's start if there are too many sales
 */
export const useRevenue = (days: number, now: number) => {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const from = today - (days - 1) * DAY_MS;
  const settlements = useItems(
    ['sales', 'revenue'],
    (client, cursor, options) => client.settlement.list({ role: 'vendor', cursor, limit: PAGE }, options),
    { every: REVENUE_MS },
  );
  const isThere = useBackTo(settlements, from, MAX_PAGES);
  const refunds = useRefunds(from);
  if (settlements.error !== null) return { error: settlements.error, again: settlements.again };
  const isFull = settlements.hasMore && settlements.data.length >= MAX_PAGES * Number(PAGE);
  if ((!isThere && !isFull) || refunds === null) return null;
  const sales = joinSales([], settlements.data, now);
  const oldest = Date.parse(settlements.data.at(-1)?.created_at ?? '');
  return {
    days: revenueByTime(sales, from, now, refundedBy(refunds)),
    since: isThere ? from : oldest,
    isWhole: isThere,
  };
};
const DAY_MS = 86_400_000;

/** All services of the account by id. `isKnown` is false until they are loaded. */
export const useAllServices = () => {
  const services = useServices();
  const isKnown = useBackTo(services, 0, MAX_PAGES);
  return { services: services.data, isKnown };
};

/** The confirmed refunds that the account gives, created since a moment. Null while unknown. */
export const useRefunds = (since: number): readonly Refund[] | null => {
  const refunds = useItems(
    ['refunds', 'given'],
    (client, cursor, options) => client.funding.listRefunds({ role: 'vendor', cursor, limit: PAGE }, options),
    { every: BODY_MS },
  );
  const isKnown = useBackTo(refunds, since, MAX_PAGES);
  return isKnown ? refunds.data.filter(isRefunded) : null;
};

/** What was refunded of each payment. */
export const refundedBy = (refunds: readonly Refund[]): Refunded => {
  const refundedOf = new Map<string, bigint>();
  for (const { settlement_id, amount } of refunds)
    refundedOf.set(settlement_id, (refundedOf.get(settlement_id) ?? 0n) + BigInt(amount));
  return refundedOf;
};
