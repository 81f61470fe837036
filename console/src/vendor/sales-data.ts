import { useEffect, useState } from 'react';
import { type Items, useItems, useRead } from '../lib/data.ts';
import { joinSales, type Quote, type Sale, type Settlement } from './sales-figures.ts';
import { useServices } from './select-service.tsx';

/** Reading sales. The API has no sum of them, so they are read as far back as is looked at, and summed here. */

/** A page of a list, and how many pages are read before the person is asked whether to go on. */
const PAGE = '100';
const MAX_PAGES = 10;
/**
 * The newest are looked at this often, and the first pages this often; more pages less often by as much. With 12 + 10 calls a
 * minute of the 120 that each list allows, several tabs fit.
 */
const HEAD_MS = 5000;
const BODY_MS = 60_000;

/**
 * Reads a list back to a moment.
 * @param pages at most this many
 * @returns whether it came there
 */
const useBackTo = <T extends { created_at: string }>(
  items: Items<T>,
  from: number,
  pages: number,
): boolean => {
  const { data, error, isPending, hasMore, more, isLoadingMore } = items;
  const oldest = data.at(-1);
  // A list that failed before anything was read says that there is no more.
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
  /** Of the window, newest first. */
  sales: readonly Sale[];
  /** From when on they are complete, in milliseconds: the window's begin, or later where not all is read. */
  since: number;
  /** What of the window is not read: on its way, or to be asked for. */
  rest: 'none' | 'reading' | 'more';
  readMore: () => void;
  /** Both lists were read at least once; before, no figure means anything. */
  isKnown: boolean;
  error: unknown;
  again: () => void;
};

const isWhole = (head: readonly unknown[] | undefined) => head !== undefined && head.length < Number(PAGE);

/**
 * The sales of a window, kept fresh while they are looked at.
 * @param from milliseconds
 * @param serviceId only of this service
 */
export const useSales = (from: number, now: number, serviceId: string | undefined): Sales => {
  const [pages, setPages] = useState(MAX_PAGES);
  const of = { service_id: serviceId, limit: PAGE };
  const every = (BODY_MS * pages) / MAX_PAGES;
  const heads = useRead(
    ['sales', 'head', serviceId],
    async (client, options) => {
      const [quotes, settlements] = await Promise.all([
        client.quote.list(of, options),
        client.settlement.list({ ...of, role: 'vendor' }, options),
      ]);
      return { quotes: quotes.data, settlements: settlements.data };
    },
    { every: HEAD_MS },
  );
  const quotes = useItems(
    ['sales', 'quotes', serviceId],
    (client, cursor, options) => client.quote.list({ ...of, cursor }, options),
    { every },
  );
  const settlements = useItems(
    ['sales', 'settlements', serviceId],
    (client, cursor, options) => client.settlement.list({ ...of, role: 'vendor', cursor }, options),
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

  // Where a list was not read to the window's begin, what is older than its last item is incomplete.
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

/** All services of the account by id, for names and filters. Not read yet, or not readable: `isKnown` is false. */
export const useAllServices = () => {
  const services = useServices();
  const isKnown = useBackTo(services, 0, MAX_PAGES);
  return { services: services.data, isKnown };
};

/**
 * What was given back since a moment, of these services: refunds that an account gets itself are not among them. Null while
 * that is not known.
 */
export const useRefunded = (since: number, serviceIds: ReadonlySet<string> | null): bigint | null => {
  const refunds = useItems(
    ['refunds', 'given'],
    (client, cursor, options) => client.funding.listRefunds({ cursor, limit: PAGE }, options),
    { every: BODY_MS },
  );
  const isKnown = useBackTo(refunds, since, MAX_PAGES);
  if (!isKnown || serviceIds === null) return null;
  return refunds.data
    .filter(({ status }) => status === 'confirmed' || status === 'finalized')
    .filter(({ service_id, created_at }) => serviceIds.has(service_id) && Date.parse(created_at) >= since)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
};
