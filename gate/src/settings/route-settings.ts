import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import type { FixedRoute, MeteredRoute } from '../../../sdk/src/paywall/main.ts';
import { type AnswerPrice, priceFunction } from '../ground/metered.ts';
import { matchFault, type RouteSettings, slashInFault } from '../ground/routes.ts';
import { check, durationFrom, flag, HeaderName, Price, text, whole } from '../ground/values.ts';

/** What the file and the command line say of one route. */

const Prepaid = z
  .strictObject({
    units: whole(1, 1_000_000_000).describe('How many requests one payment buys'),
  })
  .describe('The price buys several requests to one address');

const Quota = z
  .strictObject({
    calls: whole(1, 1_000_000_000).describe('How many calls of a caller pass unpaid in each window'),
    per: z.enum(['hour', 'day', 'month']).describe('The window, in UTC'),
    by: HeaderName.optional().describe(
      'The header that names the caller, like X-Api-Key. Something before the gate must check it. Default: the address',
    ),
  })
  .describe('The first calls of a caller pass unpaid');

/** The API's limits for the window of an authorization. */
const Window = durationFrom(60_000, 604_800_000, "from '1m' to '168h'");

const fields = z.strictObject({
  match: text
    .superRefine(check(matchFault))
    .describe("Methods and a path: 'GET /report', 'GET,POST /reports/:city', '* /api/**'"),
  slash_in: text
    .optional()
    .describe(
      'The name of a part that may contain %2F, which the API must read as text: id of /projects/:id',
    ),
  price: Price.optional(),
  free: z
    .union([flag, Quota])
    .optional()
    .describe('true: the route passes unpaid. With calls and per: the first calls of each caller do'),
  prepaid: Prepaid.optional(),
  max: Price.optional().describe('A metered route: the most that one authorization pays'),
  unit_price: Price.optional().describe('The price of a unit of units_header'),
  units_header: HeaderName.optional().describe('A header or trailer of the answer: the units of a call'),
  price_header: HeaderName.optional().describe('A header or trailer of the answer: the price of a call'),
  tab: flag.optional().describe('true: one authorization serves many calls, and is captured once'),
  per_call: Price.optional().describe('The most that one call of a tab can cost'),
  threshold: Price.optional().describe(
    'The use of a tab at which it is captured. Default max, and none with extend',
  ),
  extend: flag.optional().describe('true: the buyer of a tab that is used up may extend it by max'),
  replay: flag.optional().describe('false: a call of a tab runs again when it is repeated'),
  window: Window.optional().describe('How long an authorization can be used. Default 1h for a tab, else 10m'),
});
type Fields = z.output<typeof fields>;
type Fault = { at: keyof Fields; message: string } | null;

const ONLY_METERED = ['unit_price', 'units_header', 'price_header', 'tab', 'window'] as const;
const ONLY_TAB = ['per_call', 'threshold', 'extend', 'replay'] as const;

const isMore = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && BigInt(one) > BigInt(other);

const isQuota = (free: Fields['free']): free is z.output<typeof Quota> => typeof free === 'object';

const unmeteredFault = (route: Fields): Fault => {
  const metered = [...ONLY_METERED, ...ONLY_TAB].find((name) => route[name] !== undefined);
  if (metered !== undefined) return { at: metered, message: 'is for a metered route: name max, its ceiling' };
  if (route.prepaid !== undefined && route.price === undefined)
    return { at: 'prepaid', message: 'a free route has no prepaid requests' };
  if (route.price === undefined && isQuota(route.free))
    return { at: 'free', message: 'name the price of the calls that are not free' };
  return (route.price === undefined) === (route.free !== true)
    ? { at: 'match', message: 'name either a price or free: true' }
    : null;
};

const tabFault = (route: Fields): Fault => {
  const { tab, price, max, per_call, threshold, extend } = route;
  const isByAnswer = route.units_header !== undefined || route.price_header !== undefined;
  const only = ONLY_TAB.find((name) => route[name] !== undefined);
  if (tab !== true) return only === undefined ? null : { at: only, message: 'is for a tab: name tab: true' };
  if (isByAnswer && per_call === undefined)
    return { at: 'tab', message: 'name per_call, the most that one call can cost: calls share the tab' };
  if (isMore(per_call, max)) return { at: 'per_call', message: 'use at most max' };
  if (isMore(price, per_call)) return { at: 'per_call', message: 'use at least price' };
  return extend !== true && isMore(threshold, max) ? { at: 'threshold', message: 'use at most max' } : null;
};

const meteredFault = (route: Fields): Fault => {
  const { price, prepaid, max, free, unit_price, units_header, price_header } = route;
  if (free === true) return { at: 'max', message: 'a free route has no ceiling' };
  if (prepaid !== undefined)
    return { at: 'prepaid', message: 'a metered route is not prepaid: use tab: true' };
  if (price === undefined && units_header === undefined && price_header === undefined)
    return { at: 'max', message: 'name what a call costs: price, units_header or price_header' };
  if (units_header !== undefined && price_header !== undefined)
    return { at: 'price_header', message: 'name one of units_header and price_header' };
  if ((units_header === undefined) !== (unit_price === undefined))
    return {
      at: units_header === undefined ? 'unit_price' : 'units_header',
      message: 'name both units_header and unit_price',
    };
  if (isMore(price, max)) return { at: 'price', message: 'use at most max' };
  return tabFault(route);
};

const slashFault = ({ match, slash_in }: Fields): Fault => {
  const message = slashInFault(match, slash_in);
  return message === null ? null : { at: 'slash_in', message };
};

export const Route = fields.superRefine((route, context) => {
  const fault = slashFault(route) ?? (route.max === undefined ? unmeteredFault(route) : meteredFault(route));
  if (fault === null) return;
  // What is missing has the place of its route.
  const path = fault.at === 'match' ? [] : [fault.at];
  context.addIssue({ code: 'custom', path, message: fault.message });
});
export type Route = z.output<typeof Route>;

/** Without the values that a file leaves out. */
const defined = <T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;

const answerPriceOf = ({ price, unit_price, units_header, price_header }: Route): AnswerPrice => ({
  base: BigInt(price ?? 0),
  header: units_header ?? price_header ?? null,
  unitPrice: unit_price === undefined ? null : BigInt(unit_price),
});

const meteredOf = (route: Route, price: AnswerPrice): NonNullable<RouteSettings['paid']> => {
  const { max, window, tab, per_call, threshold, extend, replay } = route;
  const ofTab = defined({ perCall: per_call, threshold, extend, replay });
  return defined({
    max: max!,
    price: price.header === null ? route.price : priceFunction(price),
    windowSeconds: window === undefined ? undefined : Math.round(window / 1000),
    tab: tab !== true ? undefined : Object.keys(ofTab).length === 0 ? true : ofTab,
  }) as MeteredRoute<IncomingMessage>;
};

/** How requests of a route are paid. */
export const routeSettingsOf = (route: Route): RouteSettings => {
  const { price, prepaid, max } = route;
  const at = { match: route.match, ...(route.slash_in !== undefined && { slashIn: route.slash_in }) };
  const free = isQuota(route.free) && { free: { ...route.free, by: route.free.by ?? null } };
  if (max !== undefined) {
    const answerPrice = answerPriceOf(route);
    return { ...at, paid: meteredOf(route, answerPrice), answerPrice, ...free };
  }
  if (price === undefined) return { ...at, paid: null };
  return {
    ...at,
    paid: defined({ price, prepaid }) as FixedRoute<IncomingMessage>,
    ...free,
  };
};
