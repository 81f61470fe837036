import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LoggedRequest } from './request-log.ts';

/**
 * A word longer than any id may be a key or a token that was sent in the wrong place. A message
 * repeats what it refuses.
 */
const LONG_WORD = /\S{41,}/g;

const withoutLongWords = (message: string): string =>
  message.replaceAll(LONG_WORD, (word) => `${word.slice(0, 8)}…`);

/** The ids of objects in the input and the answer. The log line also has flags and a state. */
const objectIds = (ids: FastifyRequest['ids']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(ids ?? {}).filter(
      (entry): entry is [string, string] => entry[0].endsWith('_id') && typeof entry[1] === 'string',
    ),
  );

/**
 * A call for the log of its account. Null for a call without an account, of a page of the console,
 * or of the log itself. A browser sets `sec-fetch-site`, and no script can.
 */
export const describeRequest = (
  request: FastifyRequest,
  { statusCode, elapsedTime }: Pick<FastifyReply, 'statusCode' | 'elapsedTime'>,
): { accountId: string; logged: LoggedRequest } | null => {
  const { caller, routeOptions, headers } = request;
  const { name, operation } = routeOptions.config;
  if (caller === null || caller.principal.kind === 'none' || operation === undefined) return null;
  if (headers['sec-fetch-site'] === 'same-origin' || name === 'gateway.requests') return null;
  const { principal } = caller;
  return {
    accountId: principal.account_id,
    logged: {
      request_id: request.id,
      created_at: new Date().toISOString(),
      method: operation.http.method,
      path: operation.http.path,
      operation: name!,
      status: statusCode,
      code: request.refusal?.code ?? null,
      message: request.refusal === undefined ? null : withoutLongWords(request.refusal.message),
      duration_ms: Math.round(elapsedTime),
      credential: principal.kind,
      service_id: principal.kind === 'service_key' ? principal.service_id : null,
      delegate_id: principal.kind === 'delegate_key' ? principal.delegate_id : null,
      ids: objectIds(request.ids),
    },
  };
};
