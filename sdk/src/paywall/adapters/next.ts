import type { PaidRoute } from '../base/route.ts';
import type { Paywall } from '../entry/paywall.ts';

/**
 * Sells a route handler of the App Router, which is a function of Request to Response:
 * `export const GET = paid(paywall, { price: '50000' }, async (request) => Response.json(…))`.
 * Runs in the Node and edge runtimes; `paymentOf(request)` in the handler.
 */
export const paid = <R extends Request, Rest extends unknown[]>(
  paywall: Paywall,
  route: PaidRoute<R>,
  handler: (request: R, ...rest: Rest) => Response | Promise<Response>,
): ((request: R, ...rest: Rest) => Promise<Response>) => paywall.protect(route, handler);
