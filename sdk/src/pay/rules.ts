import { isResourceOf } from '../resource.ts';
import type { QuoteClaims } from '../tokens.ts';
import type { Call } from './call.ts';
import { NotAllowedError, PriceAboveCapError, QuoteLapsedError, ResourceMismatchError } from './errors.ts';

/** Whom and what this client pays. Everything is judged by the verified quote. */
export type Rules = {
  /** The most that one payment may cost, in USDC micro-units. */
  maxAmount: bigint;
  /**
   * Each list: none means any. An origin of plain http beyond this machine is paid only when it is
   * listed.
   */
  allow?: {
    origins?: readonly string[];
    serviceIds?: readonly string[];
    mints?: readonly string[];
  };
};

const LOOPBACK = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/;

/**
 * True where the scope has `units`: the settlement serves that many calls, or more or fewer as the
 * vendor prices them.
 */
export const isPrepaid = ({ scope }: QuoteClaims): boolean =>
  Number.isInteger(scope?.units) && Number(scope?.units) >= 1;

/**
 * The address that a 402 asks money for: where redirects within the origin have led.
 * @throws ResourceMismatchError when they led to another origin, or cannot have kept the request
 */
export const addressOf = (call: Call, response: Response, quote: QuoteClaims): string => {
  if (!response.redirected || response.url === '') return call.url;
  if (new URL(response.url).origin !== new URL(call.url).origin)
    throw new ResourceMismatchError('a redirect led to another origin', quote);
  // fetch does not tell whether the redirect made a GET of it.
  if (call.method !== 'GET' && call.method !== 'HEAD')
    throw new ResourceMismatchError('the request was redirected: call the final address', quote);
  const url = new URL(response.url);
  url.hash = '';
  return url.href;
};

/**
 * What has to hold of every quote that is paid for an address, at its first try and when it is
 * taken up again.
 */
export const createRules = ({ maxAmount, allow = {} }: Rules) => {
  if (typeof maxAmount !== 'bigint') throw new TypeError('maxAmount is a bigint of micro-units');
  const origins = allow.origins?.map((origin) => new URL(origin).origin);
  return (quote: QuoteClaims, url: string): void => {
    if (!isResourceOf(quote.scope?.resource, url))
      throw new ResourceMismatchError(`the quote is not for ${new URL(url).origin}`, quote);
    const { origin, protocol } = new URL(url);
    if (origins !== undefined && !origins.includes(origin))
      throw new NotAllowedError(`${origin} is not an origin to pay`, quote);
    if (origins === undefined && protocol !== 'https:' && !LOOPBACK.test(origin))
      throw new NotAllowedError('anybody on the way can change the bill of plain http', quote);
    if (allow.serviceIds?.includes(quote.service_id) === false)
      throw new NotAllowedError(`${quote.service_id} is not a service to pay`, quote);
    if (allow.mints?.includes(quote.mint) === false)
      throw new NotAllowedError(`${quote.mint} is not a mint to pay in`, quote);
    if (BigInt(quote.quote_amount) > maxAmount) throw new PriceAboveCapError('maxAmount', quote);
  };
};

/** @throws QuoteLapsedError */
export const refuseLapsed = (quote: QuoteClaims): void => {
  if (Date.parse(quote.expires_at) <= Date.now()) throw new QuoteLapsedError('the quote has expired', quote);
};
