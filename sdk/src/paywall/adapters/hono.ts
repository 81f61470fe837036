import { FAILED } from '../base/ends.ts';
import { ConsumedBodyError, type Incoming, incomingOf } from '../base/incoming.ts';
import { setPayment } from '../base/payment.ts';
import { checkRoute, type PaidRoute } from '../base/route.ts';
import { capture } from '../entry/capture.ts';
import type { Paywall } from '../entry/paywall.ts';

/** The part of a Hono 4 context that the middleware uses. */
export type HonoContext = {
  req: { raw: Request; arrayBuffer: () => Promise<ArrayBuffer> };
  env?: unknown;
  res: Response;
};

/** The raw request was read, so Hono has no copy. */
const refuseConsumed = (): never => {
  throw new ConsumedBodyError();
};

/** What Hono's server for Node adds. */
type NodeBindings = { incoming?: { socket?: { remoteAddress?: string } } };

const incoming = ({ req, env }: HonoContext): Incoming => ({
  ...incomingOf(req.raw),
  address: (env as NodeBindings | undefined)?.incoming?.socket?.remoteAddress,
  // Hono caches a body that was read before, for instance by a validator.
  body: async (limit) =>
    req.raw.bodyUsed
      ? new Uint8Array(await req.arrayBuffer().catch(refuseConsumed))
      : incomingOf(req.raw).body(limit),
  isParsed: () => req.raw.bodyUsed,
});

/**
 * Middleware of a route: `app.get('/report', paid(paywall, { price: '50000' }), handler)`;
 * `paymentOf(c)` in the handler.
 */
export const paid = <C extends HonoContext>(paywall: Paywall, route: PaidRoute<C>) => {
  checkRoute(paywall, route);
  return async (context: C, next: () => Promise<void>): Promise<Response | undefined> => {
    const admission = await paywall.admit(incoming(context), context, route);
    if (admission.kind === 'answer') return admission.response;
    setPayment(context, admission.payment);
    try {
      await next();
      context.res = await capture(context.res, admission, paywall.maxStoredBytes);
    } catch (error) {
      await admission.finish(FAILED);
      throw error;
    }
    return undefined;
  };
};
