import { capture } from './capture.ts';
import { type Incoming, incomingOf } from './incoming.ts';
import { setPayment } from './payment.ts';
import type { PaidRoute, Paywall } from './paywall.ts';

/** What the middleware uses of a context of Hono 4. */
export type HonoContext = {
  req: { raw: Request; arrayBuffer: () => Promise<ArrayBuffer> };
  res: Response;
};

const incoming = ({ req }: HonoContext): Incoming => ({
  ...incomingOf(req.raw),
  // What was read before, by a validator, Hono has kept.
  body: async (limit) =>
    req.raw.bodyUsed ? new Uint8Array(await req.arrayBuffer()) : incomingOf(req.raw).body(limit),
});

/**
 * Middleware of a route: `app.get('/report', paid(paywall, { price: '50000' }), handler)`;
 * `paymentOf(c)` in the handler.
 */
export const paid =
  <C extends HonoContext>(paywall: Paywall, route: PaidRoute<C>) =>
  async (context: C, next: () => Promise<void>): Promise<Response | undefined> => {
    const admission = await paywall.admit(incoming(context), context, route);
    if (admission.kind === 'answer') return admission.response;
    setPayment(context, admission.payment);
    try {
      await next();
      context.res = await capture(context.res, admission.finish, paywall.maxStoredBytes);
    } catch (error) {
      await admission.finish('failed');
      throw error;
    }
    return undefined;
  };
