import { utf8 } from '../../checks/encoding.ts';
import type { Incoming } from '../base/incoming.ts';
import { joined } from '../base/metered-answer.ts';
import { setPayment } from '../base/payment.ts';
import { checkRoute, type PaidRoute } from '../base/route.ts';
import type { Paywall } from '../entry/paywall.ts';
import {
  captureNode,
  hasBody,
  headerOf,
  isParsed,
  type NodeBody,
  type NodeHeaders,
  parsedBytes,
  readNode,
} from './node.ts';
import type { NodeResponse } from './node-copy.ts';
import { type Uploading, uploadsOf } from './uploads.ts';

/** The part of an Express 5 request that the middleware uses. */
export type ExpressRequest = {
  method: string;
  originalUrl: string;
  headers: NodeHeaders;
  /** The peer, or what a proxy says if the setting `trust proxy` of the app allows it. */
  ip?: string | undefined;
} & NodeBody;
export type ExpressResponse = NodeResponse & { appendHeader: (name: string, value: string) => unknown };

type Parsed = { body?: unknown } & Uploading;

/** True for what parsers of Express 4 leave of a body that they do not read. */
const isUnread = ({ body, headers, readableDidRead }: ExpressRequest & Parsed): boolean =>
  typeof body === 'object' &&
  body !== null &&
  Object.keys(body).length === 0 &&
  !ArrayBuffer.isView(body) &&
  !readableDidRead &&
  hasBody(headers);

/**
 * The body of a request: the parsed body with its files, or the bytes, which then become
 * `request.body` as with `express.raw()`. So parsers belong before the paywall.
 */
const bodyOf = async (request: ExpressRequest & Parsed, limit: number): Promise<Uint8Array | null> => {
  const files = await uploadsOf(request);
  if (files !== null) return joined([parsedBytes(request.body), utf8('\n'), files]);
  if (request.body !== undefined && !isUnread(request)) return parsedBytes(request.body);
  const bytes = await readNode(request, limit);
  if (bytes !== null && bytes.length > 0) request.body = bytes;
  return bytes;
};

const incomingOf = (request: ExpressRequest & Parsed): Incoming => ({
  method: request.method,
  target: request.originalUrl,
  header: (name) => headerOf(request.headers, name),
  address: request.ip,
  body: (limit) => bodyOf(request, limit),
  isParsed: () => isParsed(request.body),
});

const send = async (response: ExpressResponse, said: Response): Promise<void> => {
  response.statusCode = said.status;
  // Earlier middleware may have set some (CORS). These replace them, and repeated headers stay
  // repeated.
  const names = new Set<string>();
  for (const [name, value] of said.headers) {
    if (names.has(name)) response.appendHeader(name, value);
    else response.setHeader(name, value);
    names.add(name);
  }
  (response.end as (body: Uint8Array) => unknown)(new Uint8Array(await said.arrayBuffer()));
};

/** Middleware of a route: `app.get('/report', paid(paywall, { price: '50000' }), handler)`. */
export const paid = <R extends ExpressRequest>(paywall: Paywall, route: PaidRoute<R>) => {
  checkRoute(paywall, route);
  return async (request: R, response: ExpressResponse, next: (error?: unknown) => void): Promise<void> => {
    try {
      const admission = await paywall.admit(incomingOf(request), request, route);
      if (admission.kind === 'answer') return await send(response, admission.response);
      setPayment(request, admission.payment);
      captureNode(response, admission, paywall.maxStoredBytes);
    } catch (error) {
      return next(error);
    }
    next();
  };
};
