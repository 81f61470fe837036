import cors from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DEPRECATION_HEADERS } from '../../../shared/contract/deprecated.ts';
import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED } from '../../../shared/contract/idempotency.ts';
import type { Paths } from './methods.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a call without a credential that pages of every origin may make. */
    isOpen?: boolean;
  }
}

/** The longest time that Chromium caches a preflight. Firefox caches it for up to a day. */
const PREFLIGHT_SECONDS = 7200;

/** The origins whose scripts may call the API; `*` is all of them, without cookies. */
type Origins = readonly string[] | '*' | undefined;

const ALLOWED_HEADERS = ['authorization', 'content-type', 'x-request-id', 'traceparent', IDEMPOTENCY_KEY];
const EXPOSED_HEADERS = [
  'x-request-id',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  IDEMPOTENT_REPLAYED,
  ...DEPRECATION_HEADERS,
];

/** Headers of an open call that a page of any origin may send, and those that it may read. */
const PUBLIC_PREFLIGHT = {
  'access-control-allow-headers': [...ALLOWED_HEADERS, 'if-none-match', 'if-range', 'range'].join(', '),
  'access-control-max-age': String(PREFLIGHT_SECONDS),
};
const PUBLIC_ANSWER = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': [...EXPOSED_HEADERS, 'etag', 'content-range', 'accept-ranges'].join(', '),
};

/**
 * Lets pages of every origin make the open calls, refusals included: a page that pays verifies
 * quotes and receipts with the published keys, and a wallet pays a code from a page of its own. No
 * credential is part of such a call.
 */
const openToAll = (app: FastifyInstance, origins: Origins, paths: Paths): void => {
  /** The open methods of the path of a preflight. */
  const askedFor = ({ headers, url }: FastifyRequest): string[] =>
    headers['access-control-request-method'] === undefined ? [] : paths.openMethodsOf(url.split('?', 1)[0]!);
  const isOpened = (request: FastifyRequest): boolean => {
    const { headers, routeOptions, method } = request;
    // The configured origins get more, by the plugin.
    if (origins === '*' || origins?.includes(headers.origin ?? '') === true) return false;
    if (method === 'OPTIONS') return askedFor(request).length > 0;
    return routeOptions.config.document === 'public' || routeOptions.config.isOpen === true;
  };
  app.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS' || !isOpened(request)) return done();
    const methods = { 'access-control-allow-methods': askedFor(request).join(', ') };
    void reply
      .code(204)
      .headers({ ...methods, ...PUBLIC_PREFLIGHT })
      .send();
  });
  app.addHook('onSend', (request: FastifyRequest, reply: FastifyReply, _payload, done) => {
    if (isOpened(request)) void reply.headers(PUBLIC_ANSWER).removeHeader('access-control-allow-credentials');
    done();
  });
};

/**
 * Lets scripts of the configured origins call the API and read its answers (Fetch standard, 3.3),
 * and scripts of every origin read the public documents and pay a code. Without the setting CORS is
 * off for all else: browsers block other pages, and OPTIONS answers 405.
 * @param origins whose scripts may call the API; `*` is all of them, without cookies
 */
export const registerCors = (app: FastifyInstance, origins: Origins, paths: Paths): void => {
  openToAll(app, origins, paths);
  if (origins === undefined) return;
  void app.register(cors, {
    origin: origins === '*' ? '*' : [...origins],
    // The cookie of a sign-in is for pages that the operator has named, never for all.
    credentials: origins !== '*',
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    // The plugin refuses an OPTIONS that is no preflight in another shape than the errors of the
    // API.
    strictPreflight: false,
  });
};
