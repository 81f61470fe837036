import type { ServerResponse } from 'node:http';
import type { RequestFault } from '../ground/request-fault.ts';
import type { Found } from '../ground/routes.ts';

/** The answers of the gate itself. Their codes are those of the paywall (docs/errors.md). */

const RETRY_SECONDS = 5;

/** Sends an answer of web standards. Returns the reason that it names, for the log. */
export const sendAnswer = async (response: ServerResponse, said: Response): Promise<string | null> => {
  const body = Buffer.from(await said.arrayBuffer());
  const headers: string[] = [];
  for (const [name, value] of said.headers) headers.push(name, value);
  // A body that is left unread would be taken for the next request.
  if (!response.req.complete) headers.push('connection', 'close');
  if (body.length > 0) headers.push('content-length', String(body.length));
  response.writeHead(said.status, headers).end(body);
  if (said.headers.get('content-type') !== 'application/json' || body.length === 0) return null;
  const { details } = JSON.parse(body.toString()) as { details?: { reason?: unknown } };
  return typeof details?.reason === 'string' ? details.reason : null;
};

const CODES = {
  400: 'validation_error',
  404: 'not_found',
  405: 'method_not_allowed',
  421: 'not_found',
  502: 'service_unavailable',
  503: 'service_unavailable',
  504: 'service_unavailable',
} as const;

/** Refuses a request, if no answer has begun. A paid one can be repeated after a 5xx. */
export const refuseWith = (
  response: ServerResponse,
  status: keyof typeof CODES,
  reason: string,
  more: readonly string[] = [],
): void => {
  if (response.headersSent) return void response.destroy();
  const body = JSON.stringify({ error: CODES[status], details: { reason } });
  const headers = ['content-type', 'application/json', 'cache-control', 'no-store', ...more];
  if (status >= 500) headers.push('retry-after', String(RETRY_SECONDS));
  if (!response.req.complete) headers.push('connection', 'close');
  headers.push('content-length', String(Buffer.byteLength(body)));
  response.writeHead(status, headers).end(body);
};

/** Refuses a request that has no route, or that could be read as another one. */
export const refuseRoute = (
  response: ServerResponse,
  found: Extract<Found, { kind: 'refused' }> | RequestFault,
): void => {
  const allow = found.reason === 'method' ? ['allow', found.allow] : [];
  refuseWith(response, found.status, found.reason, allow);
};
