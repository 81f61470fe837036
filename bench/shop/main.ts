// A vendor with Express and the SDK: an unpaid route that calls Redis once, and routes with a tab.
// All answer the same.
import express from 'express';
import { Redis } from 'ioredis';
import { redisStore } from '../../examples/redis-store.ts';
import { paid } from '../../sdk/src/paywall/adapters/express.ts';
import { createPaywall } from '../../sdk/src/paywall/main.ts';
import type { ShopSettings } from './shop.ts';

const settings = JSON.parse(process.argv[2]!) as ShopSettings;
const redis = new Redis(settings.redisUrl);
const app = express();
const listening = app.listen(0, '127.0.0.1', () => {
  const { port } = listening.address() as { port: number };
  const address = `http://127.0.0.1:${port}`;
  const paywall = createPaywall({
    baseUrl: settings.baseUrl,
    serviceKey: settings.serviceKey,
    serviceId: settings.serviceId,
    environment: 'test',
    publicUrl: address,
    store: redisStore(settings.redisUrl),
    log: () => {},
  });
  const { tab } = settings;
  app.get('/free', async (_request, response) => {
    await redis.incr('bench:free');
    response.json({ report: 'All is well.' });
  });
  const report = (_request: express.Request, response: express.Response) => {
    response.json({ report: 'All is well.' });
  };
  app.get('/tab', paid(paywall, { ...tab, tab: true as const }), report);
  app.get('/repeatable-tab', paid(paywall, { ...tab, tab: { replay: false } }), report);
  process.on('disconnect', () => process.exit());
  process.send!({ address });
});
