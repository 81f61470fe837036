import { useItems, useRead } from '../api/data.ts';
import { isForBuyers } from '../payments/own-quotes.ts';
import { useServices } from '../payments/select-service.tsx';
import type { Progress } from './steps.ts';

/** How often the chain is read while the page is visible. */
const EVERY_MS = 15_000;

/**
 * What the account has: for the getting-started list, and for the figures of the home page.
 */
export const useProgress = () => {
  const wallets = useItems(
    ['wallets'],
    (client, cursor, options) => client.wallet.list({ cursor }, options),
    { every: EVERY_MS },
  );
  const services = useServices();
  const endpoints = useItems(['endpoints'], (client, cursor, options) =>
    client.webhook.listEndpoints({ cursor }, options),
  );
  const payments = useRead(['payments', 'any'], async (client, options) => {
    const of = (role: 'payer' | 'vendor') => client.settlement.list({ role, limit: '1' }, options);
    const [paid, sold] = await Promise.all([of('payer'), of('vendor')]);
    return [...paid.data, ...sold.data].filter(({ status }) => status !== 'failed').length;
  });
  const delegates = useItems(['delegates'], (client, cursor, options) =>
    client.identity.listDelegates({ cursor }, options),
  );
  const served = useRead(
    ['sales', 'from-server'],
    async (client, options) => (await client.quote.list({ limit: '100' }, options)).data.some(isForBuyers),
    // A vendor starts the server and looks here.
    { every: (isServed) => isServed !== true && EVERY_MS },
  );
  const parts = [wallets, services, endpoints, payments, delegates, served];
  const progress: Progress | null =
    payments.data === undefined || served.data === undefined || parts.some(({ isPending }) => isPending)
      ? null
      : {
          wallets: wallets.data,
          services: services.data.length,
          payments: payments.data,
          agents: delegates.data.length,
          isServed: served.data,
        };
  return {
    progress,
    wallets: wallets.data,
    services: services.data,
    endpoints: endpoints.data,
    error: parts.find(({ error }) => error !== null)?.error ?? null,
    again: () => {
      for (const part of parts) part.again();
    },
  };
};
