import { amountFault, microOf } from '../../amounts.ts';
import { checkCount, checkNames, type OptionNames, refuseFault } from '../../options.ts';
import type { Bill } from './dialect.ts';
import { checkMeteredRoute, isMetered, type MeteredRoute, meteredBillOf } from './metered-route.ts';

/** The price of a route, more than the fee: `'$0.05'`, `'0.05 USDC'`, or micro-units, `'50000'`. */
export type Price<R> = string | ((request: R) => string | Promise<string>);
export type FixedRoute<R> = {
  price: Price<R>;
  /** The price buys this many requests to the address with one on-chain payment. */
  prepaid?: { units: number };
};

/**
 * A route with a price for each request, or one whose buyers pay for what they used. `max` tells
 * the compiler which one it is, so that it knows the parameters of `price`.
 */
export type PaidRoute<R> = (FixedRoute<R> & { max?: undefined }) | MeteredRoute<R>;

const OPTIONS = { price: true, prepaid: true } satisfies OptionNames<FixedRoute<never>>;
const PREPAID = { units: true } satisfies OptionNames<NonNullable<FixedRoute<never>['prepaid']>>;
/** The API's limit for the units of a settlement. */
const MOST_UNITS = 1_000_000_000;

/**
 * Checks a route where it is declared. The price of a function is checked when it is called.
 * @throws TypeError that begins with the name of a wrong option
 */
export const checkRoute = <R>(
  paywall: { admit: unknown; countsUnits: boolean },
  route: PaidRoute<R>,
): void => {
  if (typeof (paywall as { admit?: unknown } | undefined)?.admit !== 'function')
    throw new TypeError('paid: the first argument must be the paywall that createPaywall has returned');
  if (isMetered<R>(route)) checkMeteredRoute(route, paywall);
  else checkFixedRoute(route);
};

const checkFixedRoute = <R>(route: FixedRoute<R>): void => {
  checkNames('route', route, OPTIONS);
  const { price, prepaid } = route;
  if (typeof price !== 'function') refuseFault('price', amountFault(price));
  if (prepaid === undefined) return;
  checkNames('prepaid', prepaid, PREPAID);
  checkCount('prepaid.units', prepaid.units ?? 0, 'requests');
  if (prepaid.units > MOST_UNITS) throw new TypeError(`prepaid.units: use at most ${MOST_UNITS} requests`);
};

const meteredBill = <R>(resource: string, request: R, route: MeteredRoute<R>): Bill => ({
  resource,
  amount: String(microOf(route.max)),
  units: null,
  replays: typeof route.tab === 'object' ? (route.tab.replay ?? true) : true,
  metered: meteredBillOf(route, request),
  route,
});

/** The bill of a request, or the fault of what a price function has returned. */
export const billOf = async <R>(
  resource: string,
  request: R,
  route: PaidRoute<R>,
): Promise<Bill | { fault: TypeError }> => {
  if (isMetered<R>(route)) return meteredBill(resource, request, route);
  const { price, prepaid } = route;
  const amount = typeof price === 'function' ? await price(request) : price;
  const fault = amountFault(amount);
  if (fault !== null)
    return { fault: new TypeError(`price: the function has returned a wrong price; ${fault}`) };
  return {
    resource,
    amount: String(microOf(amount)),
    units: prepaid?.units ?? null,
    replays: true,
    metered: null,
    route,
  };
};
