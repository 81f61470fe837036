import { createPaywall, type Paywall, type PaywallEvent } from '@quittance/sdk/vendor';
import { redisStore } from './redis-store.ts';

const { env } = process;

/**
 * The paywall of all examples, configured by the environment of the process. Next evaluates it
 * while it builds, without these variables. What is missing is refused at the first request.
 */
export const paywallOf = (log: (event: PaywallEvent) => void = console.log): Paywall =>
  createPaywall({
    baseUrl: env.QUITTANCE_URL!,
    serviceKey: env.SERVICE_KEY!,
    serviceId: env.SERVICE_ID!,
    environment: env.SERVICE_KEY?.startsWith('vendor_live_') ? 'live' : 'test',
    publicUrl: env.PUBLIC_URL!,
    store: redisStore(env.REDIS_URL!),
    log,
  });
