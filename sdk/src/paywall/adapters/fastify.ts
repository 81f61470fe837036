import { ConsumedBodyError, type Incoming } from '../base/incoming.ts';
import { setPayment } from '../base/payment.ts';
import { checkRoute, type PaidRoute } from '../base/route.ts';
import type { Paywall } from '../entry/paywall.ts';
import {
  captureNode,
  hasBody,
  headerOf,
  isParsed,
  type NodeHeaders,
  parsedBytes,
  READ_LATER,
} from './node.ts';
import type { NodeResponse } from './node-copy.ts';

/** The part of a Fastify 5 request and reply that the hook uses. */
export type FastifyRequest = {
  method: string;
  originalUrl: string;
  headers: NodeHeaders;
  /** The peer, or what a proxy says if the option `trustProxy` allows it. */
  ip?: string;
};
export type FastifyReply = {
  raw: NodeResponse;
  code: (status: number) => unknown;
  header: (name: string, value: string) => unknown;
  send: (payload?: Uint8Array) => unknown;
};

const incomingOf = (request: FastifyRequest & { body?: unknown }): Incoming => ({
  method: request.method,
  target: request.originalUrl,
  header: (name) => headerOf(request.headers, name),
  address: request.ip,
  // Fastify has parsed it within its own limit.
  body: async () => {
    if (request.body === undefined && hasBody(request.headers)) throw new ConsumedBodyError(READ_LATER);
    return parsedBytes(request.body);
  },
  isParsed: () => isParsed(request.body),
});

type Hook<R> = (request: R, reply: FastifyReply) => Promise<unknown>;

/**
 * A hook of a route: `app.get('/report', { preHandler: paid(paywall, { price: '50000' }) },
 * handler)`. A `price` function may use Fastify's own request type with the route's generics.
 */
export function paid(paywall: Paywall, route: PaidRoute<FastifyRequest>): Hook<FastifyRequest>;
export function paid<R extends FastifyRequest>(paywall: Paywall, route: PaidRoute<R>): Hook<R>;
export function paid<R extends FastifyRequest>(paywall: Paywall, route: PaidRoute<R>): Hook<R> {
  checkRoute(paywall, route);
  return async (request, reply) => {
    const admission = await paywall.admit(incomingOf(request), request, route);
    if (admission.kind === 'answer') {
      const { status, headers } = admission.response;
      reply.code(status);
      for (const [name, value] of headers) reply.header(name, value);
      const body = new Uint8Array(await admission.response.arrayBuffer());
      reply.send(body.length === 0 ? undefined : body);
      return reply;
    }
    setPayment(request, admission.payment);
    captureNode(reply.raw, admission, paywall.maxStoredBytes);
    return undefined;
  };
}
