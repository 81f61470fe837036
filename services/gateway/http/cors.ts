import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED } from '../../../shared/contract/idempotency.ts';

/** The longest time that Chromium caches a preflight. Firefox caches it for up to a day. */
const PREFLIGHT_SECONDS = 7200;

/**
 * Lets scripts of the configured origins call the API and read its answers (Fetch standard, 3.3).
 * Without the setting CORS is off: browsers block other pages, and OPTIONS answers 405.
 * @param origins whose scripts may call the API; `*` is all of them, without cookies
 */
export const registerCors = (app: FastifyInstance, origins: readonly string[] | '*' | undefined): void => {
  if (origins === undefined) return;
  void app.register(cors, {
    origin: origins === '*' ? '*' : [...origins],
    // The cookie of a sign-in is for pages that the operator has named, never for all.
    credentials: origins !== '*',
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: ['authorization', 'content-type', 'x-request-id', 'traceparent', IDEMPOTENCY_KEY],
    exposedHeaders: ['x-request-id', 'retry-after', 'ratelimit', 'ratelimit-policy', IDEMPOTENT_REPLAYED],
    maxAge: PREFLIGHT_SECONDS,
    // The plugin refuses an OPTIONS that is no preflight in another shape than the errors of the
    // API.
    strictPreflight: false,
  });
};
