import { amountFault, microOf } from '../../amounts.ts';
import { displayUsdc } from '../../generated/usdc.ts';
import { checkCount, checkNames, type OptionNames, refuseFault } from '../../options.ts';
import { MOST_COUNTED } from './store.ts';

/** What a call costs: micro-units, `'$0.0012'`, or units at the `unitPrice` of the route. */
export type MeteredAmount = bigint | string | { units: number };

/** The finished answer of a handler. */
export type MeteredResult = {
  status: number;
  header: (name: string) => string | null;
  /** The length of the body. */
  bytes: number;
  /** The body. Null: it is longer than `maxStoredBytes`. */
  body: Uint8Array | null;
  /** The JSON of the body. @throws if it is none, or too long */
  // biome-ignore lint/suspicious/noExplicitAny: as Response.json
  json: () => any;
};

/**
 * A route whose buyers pay for what they used (docs/guides/metered.md). The buyer authorizes the
 * ceiling `max` before the handler runs, and pays what the handler has reported.
 */
export type MeteredRoute<R> = {
  /** The ceiling of an authorization, more than the fee: `'$0.50'`, or micro-units. */
  max: string;
  /**
   * The price of a call: fixed, or of its answer. It is added to what the handler charges with
   * `meterOf(request)`. Default: only that.
   */
  price?: string | ((result: MeteredResult, request: R) => MeteredAmount | Promise<MeteredAmount>);
  /** The price of a unit, for prices and charges in units. */
  unitPrice?: string;
  /** From the authorization on, how long it can be used. Default 3600 with `tab`, otherwise 600. */
  windowSeconds?: number;
  /**
   * One authorization serves many calls to the address, and is captured once. It needs a store with
   * `take`.
   */
  tab?:
    | true
    | {
        /** The most that one call can cost. Default: a fixed `price`. */
        perCall?: string;
        /**
         * The use of a tab at which it is captured, and the buyer opens the next one. Default:
         * `max`, and none with `extend`.
         */
        threshold?: string;
        /**
         * True: a buyer whose tab is used up is offered to extend its ceiling by `max`, so that one
         * capture pays for more calls. Otherwise the tab is captured, and the next one is offered.
         */
        extend?: boolean;
        /**
         * False declares that the handler may run again for the same request, because it changes
         * nothing. Then no answer is stored, and a repeat is another call. Default: a repeat gets
         * the stored answer.
         */
        replay?: boolean;
      };
};

/** How a request of a metered route is paid. Amounts in micro-units. */
export type MeteredBill = {
  isTab: boolean;
  /** What a call takes of the authorization before its handler runs. */
  perCall: bigint;
  /** The use at which a tab is captured. Null: none. */
  threshold: bigint | null;
  /** The ceiling of a tab that is used up is extended, if its buyer wants that. */
  extend: boolean;
  unitPrice: bigint | null;
  windowSeconds: number;
  /** The price of a call of a tab, if its handler charges nothing. Null: it is known at the end. */
  fixed: bigint | null;
  /** What each call costs besides what its handler charges. Null: the answer decides. */
  price: bigint | null;
  /** What a finished call costs besides what its handler has charged. */
  priceOf: (result: MeteredResult) => MeteredAmount | Promise<MeteredAmount>;
};

const OPTIONS = {
  max: true,
  price: true,
  unitPrice: true,
  windowSeconds: true,
  tab: true,
} satisfies OptionNames<MeteredRoute<never>>;
const TAB = { perCall: true, threshold: true, extend: true, replay: true } satisfies OptionNames<
  Exclude<NonNullable<MeteredRoute<never>['tab']>, true>
>;
/** The API's limits. */
const WINDOW = { least: 60, most: 604_800 };
const TAB_SECONDS = 3600;
const CALL_SECONDS = 600;

export const isMetered = <R>(route: object | MeteredRoute<R>): route is MeteredRoute<R> =>
  typeof route === 'object' && route !== null && 'max' in route;

const microIn = (name: string, amount: string): bigint => {
  refuseFault(name, amountFault(amount));
  return microOf(amount);
};

const checkTab = <R>(
  { tab, price, max }: MeteredRoute<R>,
  { countsUnits }: { countsUnits: boolean },
): void => {
  if (tab === undefined) return;
  if (!countsUnits)
    throw new TypeError(
      'tab: the store of the paywall counts what is left of a tab, so it must have take, as memoryStore() and the stores of the examples have',
    );
  const ceiling = microOf(max);
  const { perCall, threshold, extend, replay } = tab === true ? {} : tab;
  if (tab !== true) checkNames('tab', tab, TAB);
  if (perCall === undefined && typeof price !== 'string')
    throw new TypeError(
      "tab.perCall is missing: name the most that one call can cost, like '$0.01', because concurrent calls share the tab",
    );
  if (perCall !== undefined && microIn('tab.perCall', perCall) > ceiling)
    throw new TypeError('tab.perCall: use at most max');
  if (perCall !== undefined && typeof price === 'string' && microOf(price) > microOf(perCall))
    throw new TypeError('tab.perCall: use at least price');
  if (!['undefined', 'boolean'].includes(typeof extend))
    throw new TypeError('tab.extend: use true if the buyer may extend the ceiling of a tab, otherwise false');
  if (threshold !== undefined && microIn('tab.threshold', threshold) > ceiling && extend !== true)
    throw new TypeError('tab.threshold: use at most max');
  if (!['undefined', 'boolean'].includes(typeof replay))
    throw new TypeError('tab.replay: use false for a handler that may run again, otherwise true');
};

/**
 * Checks a metered route where it is declared.
 * @throws TypeError that begins with the name of a wrong option
 */
export const checkMeteredRoute = <R>(route: MeteredRoute<R>, paywall: { countsUnits: boolean }): void => {
  checkNames('route', route, OPTIONS);
  const { max, price, unitPrice, windowSeconds } = route;
  if (microIn('max', max) > MOST_COUNTED)
    throw new TypeError(`max: use at most '${MOST_COUNTED}' micro-units`);
  if (price !== undefined && typeof price !== 'function' && microIn('price', price) > microOf(max))
    throw new TypeError('price: use at most max');
  if (unitPrice !== undefined) microIn('unitPrice', unitPrice);
  checkCount('windowSeconds', windowSeconds, 'seconds', WINDOW.least);
  if (windowSeconds !== undefined && windowSeconds > WINDOW.most)
    throw new TypeError(`windowSeconds: use at most ${WINDOW.most} seconds`);
  checkTab(route, paywall);
};

/** How a request of a checked route is paid. */
export const meteredBillOf = <R>(route: MeteredRoute<R>, request: R): MeteredBill => {
  const { max, price, unitPrice, windowSeconds, tab } = route;
  const { perCall, threshold, extend = false } = tab === undefined || tab === true ? {} : tab;
  const named = typeof price === 'string' ? microOf(price) : null;
  const isTab = tab !== undefined;
  return {
    isTab,
    perCall: !isTab ? microOf(max) : perCall === undefined ? named! : microOf(perCall),
    threshold: threshold === undefined && extend ? null : microOf(threshold ?? max),
    extend,
    unitPrice: unitPrice === undefined ? null : microOf(unitPrice),
    windowSeconds: windowSeconds ?? (isTab ? TAB_SECONDS : CALL_SECONDS),
    fixed: isTab && perCall === undefined ? named : null,
    price: named,
    priceOf: (result) => (typeof price === 'function' ? price(result, request) : (named ?? 0n)),
  };
};

/**
 * What of a metered route pays its vendor nothing, in a sentence. Null: nothing is seen.
 * @param feeMicro the smallest fee of a capture
 */
export const unpayingOf = (
  { isTab, price, threshold }: Pick<MeteredBill, 'isTab' | 'price' | 'threshold'>,
  feeMicro: bigint,
): string | null => {
  const fee = displayUsdc(feeMicro);
  const least = displayUsdc(feeMicro + 1n);
  if (!isTab && price !== null && price <= feeMicro)
    return `price: each call is paid by itself, and ${displayUsdc(price)} does not exceed the fee of ${fee}, so it pays you nothing unless its handler charges more; set tab: true, so that one payment pays for many calls`;
  if (threshold !== null && threshold <= feeMicro)
    return `tab.threshold: ${displayUsdc(threshold)} does not exceed the fee of ${fee}, so a tab that is ended there pays you nothing; use at least ${least}`;
  return null;
};

/**
 * The micro-units of what a vendor charges.
 * @throws TypeError with a sentence
 */
export const microOfMetered = (amount: MeteredAmount, unitPrice: bigint | null): bigint => {
  if (typeof amount === 'bigint') {
    if (amount < 0n) throw new TypeError('a charge must not be negative');
    return amount;
  }
  if (typeof amount === 'object' && amount !== null) {
    if (unitPrice === null) throw new TypeError('a charge in units needs the unitPrice of the route');
    if (!Number.isSafeInteger(amount.units) || amount.units < 0)
      throw new TypeError('units: use a whole number, at least 0');
    return BigInt(amount.units) * unitPrice;
  }
  const fault = amount === '0' ? null : amountFault(amount);
  if (fault !== null) throw new TypeError(`charge: ${fault}`);
  return microOf(amount);
};
