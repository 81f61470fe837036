import { createPaywall, type Paywall, type PaywallEvent } from '@quittance/sdk/vendor';
import { redisStore } from './redis-store.ts';

const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
};

/** The paywall of all examples, configured by the environment of the process. */
export const paywallOf = (log: (event: PaywallEvent) => void = console.log): Paywall =>
  createPaywall({
    baseUrl: setting('QUITTANCE_URL'),
    serviceKey: setting('SERVICE_KEY'),
    serviceId: setting('SERVICE_ID'),
    environment: setting('SERVICE_KEY').startsWith('vendor_live_') ? 'live' : 'test',
    publicUrl: setting('PUBLIC_URL'),
    store: redisStore(setting('REDIS_URL')),
    log,
  });
