import { type Amount, microOf } from '../../amounts.ts';
import { sortedJson } from '../../checks/encoding.ts';
import { isResourceOf, resourceOf } from '../../checks/resource.ts';
import type { QuoteClaims } from '../../checks/tokens.ts';
import type { Call } from './call.ts';
import {
  NotAllowedError,
  PriceAboveCapError,
  QuoteLapsedError,
  ResourceMismatchError,
  WindowTooLongError,
} from './errors.ts';
import type { Price } from './price.ts';

/**
 * Whom and what this client pays. All rules apply to the verified quote, or to a vendor's offer of
 * x402.
 */
export type Rules = {
  /**
   * The maximum of one payment: `'$0.05'`, `'0.05 USDC'`, or micro-units, `50_000n`. Of vendors who
   * are paid for what was used, it is the maximum of all ceilings together that are open.
   */
  maxAmount: Amount;
  /**
   * A missing list allows any value. Plain http to another machine is paid only if its origin is
   * listed.
   */
  allow?: {
    origins?: readonly string[];
    serviceIds?: readonly string[];
    mints?: readonly string[];
  };
  /**
   * How long a vendor that is paid for what was used may take until its capture, in seconds. So
   * long it can hold the ceiling. A quote with a longer window is refused. Default: a day.
   */
  maxWindowSeconds?: number;
};

/** The default of `maxWindowSeconds`. */
export const MOST_WINDOW_SECONDS = 86_400;

const LOOPBACK = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/;

/**
 * True if the scope has `units`: the settlement serves several calls, whose price in units the
 * vendor sets.
 */
const isPrepaid = ({ scope }: QuoteClaims): boolean =>
  Number.isInteger(scope?.units) && Number(scope?.units) >= 1;

/** True if the vendor captures a part of the amount, which is a ceiling. */
export const isAuthorization = ({ capture }: QuoteClaims): boolean => capture !== undefined;

/**
 * Whether an authorization has ended without a payment. Every other end is a payment of the
 * settlement's amount.
 */
export const isUnpaid = (status: string): boolean => status === 'voided' || status === 'failed';

/** True if it is an authorization that serves several calls. */
export const isTab = ({ capture, scope }: QuoteClaims): boolean =>
  capture !== undefined && scope?.tab === true;

/** True if what is paid serves several calls. */
export const isForMany = (quote: QuoteClaims): boolean => isPrepaid(quote) || isTab(quote);

/**
 * The address that a 402 belongs to: the target of redirects within the origin.
 * @throws ResourceMismatchError if a redirect led to another origin or may have changed the request
 */
export const addressOf = (call: Call, response: Response, quote: Price): string => {
  if (!response.redirected || response.url === '') return call.url;
  if (new URL(response.url).origin !== new URL(call.url).origin)
    throw new ResourceMismatchError('a redirect led to another origin', quote);
  // fetch does not report whether the redirect changed the method to GET.
  if (call.method !== 'GET' && call.method !== 'HEAD')
    throw new ResourceMismatchError('the request was redirected: call the final address', quote);
  const url = new URL(response.url);
  url.hash = '';
  return url.href;
};

/** The longest address of a vendor in a sentence. */
const LONGEST = 300;

/** What the vendor of a quote has to change, if it is the caller's own. */
const remedyOf = (quoted: URL, called: URL): string => {
  const [less, more] = [quoted.pathname, called.pathname];
  const [isShorter, isLonger] = [more.endsWith(less), less.endsWith(more)];
  if (quoted.origin !== called.origin)
    return isShorter || isLonger ? ` must begin with ${called.origin}` : ' is another one';
  if (isShorter) return ` must contain the prefix ${more.slice(0, -less.length)}`;
  return isLonger ? ` must not contain the prefix ${less.slice(0, -more.length)}` : ' is another one';
};

/** Both addresses, because the vendor's own configuration is the most frequent cause. */
const mismatchOf = (claimed: unknown, url: string): string => {
  const called = resourceOf(url);
  if (typeof claimed !== 'string' || !/^https?:/i.test(claimed) || !URL.canParse(claimed))
    return `The quote names no address, and ${called} was called.`;
  const quoted = resourceOf(claimed);
  if (quoted === called)
    return `The quote is for ${called} with a user, a query or a fragment, which no vendor of Quittance signs.`;
  const remedy = remedyOf(new URL(quoted), new URL(called));
  return `The quote is for ${quoted.slice(0, LONGEST)}, and ${called} was called. If this is your vendor: its publicUrl${remedy}.`;
};

/**
 * The rules for everything that is paid for an address, at the first try and when a payment is
 * resumed.
 */
export const createRules = ({
  maxAmount: ofAll,
  allow = {},
  maxWindowSeconds = MOST_WINDOW_SECONDS,
}: Rules) => {
  const maxAmount = microOf(ofAll);
  const origins = allow.origins?.map((origin) => new URL(origin).origin);
  const checkPrice = (quote: Price, url: string, ofCall = maxAmount): void => {
    const { origin, protocol } = new URL(url);
    if (origins !== undefined && !origins.includes(origin))
      throw new NotAllowedError(`${origin} is not an allowed origin.`, quote);
    if (origins === undefined && protocol !== 'https:' && !LOOPBACK.test(origin))
      throw new NotAllowedError(
        'A price over plain http can be changed on the way. List the origin to pay it anyway.',
        quote,
      );
    if (allow.serviceIds !== undefined && !allow.serviceIds.some((id) => id === quote.service_id))
      throw new NotAllowedError(
        `${quote.service_id ?? quote.service_name} is not an allowed service.`,
        quote,
      );
    if (allow.mints?.includes(quote.mint) === false)
      throw new NotAllowedError(`${quote.mint} is not an allowed mint.`, quote);
    const most = ofCall < maxAmount ? ofCall : maxAmount;
    if (BigInt(quote.quote_amount) > most) throw new PriceAboveCapError('maxAmount', quote, most);
  };
  /** A quote that extends the ceiling of a tab. `refuseOtherTab` checks which one it is. */
  const checkExtension = (quote: QuoteClaims, url: string, ofCall?: bigint): void => {
    if (!isResourceOf(quote.scope?.resource, url))
      throw new ResourceMismatchError(mismatchOf(quote.scope?.resource, url), quote);
    if (quote.capture !== undefined && quote.capture.window_seconds > maxWindowSeconds)
      throw new WindowTooLongError(quote, quote.capture.window_seconds, maxWindowSeconds);
    checkPrice(quote, url, ofCall);
  };
  return {
    checkPrice,
    checkExtension,
    checkQuote: (quote: QuoteClaims, url: string, ofCall?: bigint): void => {
      if (quote.extends !== undefined)
        throw new NotAllowedError('The quote extends a tab, and the request presented none.', quote);
      checkExtension(quote, url, ofCall);
    },
  };
};

/** What a quote that extends a tab must have as the quote of that tab has it. */
const OF_TAB = [
  'env',
  'vendor_account_id',
  'service_id',
  'payout_address',
  'mint',
  'currency',
  'scope',
  'capture',
] as const satisfies readonly (keyof QuoteClaims)[];
const termsOf = (quote: QuoteClaims): string => sortedJson(OF_TAB.map((name) => quote[name]));

/** @throws NotAllowedError if a quote extends another tab, or has other terms than it */
export const refuseOtherTab = (quote: QuoteClaims, tab: QuoteClaims): void => {
  if (quote.extends !== tab.quote_id)
    throw new NotAllowedError('The quote extends another tab than the one that was presented.', quote);
  if (termsOf(quote) !== termsOf(tab))
    throw new NotAllowedError('The quote that extends the tab has other terms than the tab.', quote);
};

/** @throws QuoteLapsedError */
export const refuseLapsed = (quote: QuoteClaims): void => {
  if (Date.parse(quote.expires_at) <= Date.now()) throw new QuoteLapsedError('The quote has expired.', quote);
};
