import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED } from '../../shared/contract/idempotency.ts';
import type { Deps } from './deps.ts';

/** Longest that Chromium keeps a preflight; Firefox keeps it for a day. */
const PREFLIGHT_SECONDS = 7200;

/**
 * Lets scripts of the configured origins call the API and read its answers (Fetch standard, 3.3). Off without the
 * setting: browsers then keep other pages away by themselves, and OPTIONS is a path that is not there.
 */
export const registerCors = (app: FastifyInstance, { corsOrigins }: Pick<Deps, 'corsOrigins'>): void => {
  if (corsOrigins === undefined) return;
  void app.register(cors, {
    origin: corsOrigins === '*' ? '*' : [...corsOrigins],
    // The cookie of a sign-in is for pages that the operator has named, never for all.
    credentials: corsOrigins !== '*',
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: ['authorization', 'content-type', 'x-request-id', 'traceparent', IDEMPOTENCY_KEY],
    exposedHeaders: ['x-request-id', 'retry-after', 'ratelimit', 'ratelimit-policy', IDEMPOTENT_REPLAYED],
    maxAge: PREFLIGHT_SECONDS,
    // Its refusal of an OPTIONS that is no preflight has another shape than our errors.
    strictPreflight: false,
  });
};
