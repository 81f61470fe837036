import { ConfigurationError, createPaywall, type Paywall, type PaywallEvent } from '@quittance/sdk/vendor';
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

/**
 * Asks the API once whether key, service and prices are right, and ends the program with a sentence
 * if not. While the API is away it serves all the same.
 */
export const checkAtStart = (paywall: Paywall, ...prices: string[]): Promise<void> =>
  paywall.check(...prices).catch((error: Error) => {
    console.error(error.message);
    if (error instanceof ConfigurationError) process.exit(1);
  });
