// The vendor of one side: Express with one paid route, which delivers a report by its id.
import { once } from 'node:events';
import { createServer } from 'node:http';
import express, { type Express } from 'express';
import { paid } from '../../sdk/src/paywall/adapters/express.ts';
import { createPaywall, memoryStore } from '../../sdk/src/paywall/main.ts';
import { DELIVERY, type VendorSettings } from './job.ts';

/** An application that is paid for its only route. */
const createApp = async (settings: VendorSettings, publicUrl: string): Promise<Express> => {
  if (settings.protocol === 'quittance') {
    const { baseUrl, serviceKey, serviceId, price, metered } = settings;
    const paywall = createPaywall({
      baseUrl,
      serviceKey,
      serviceId,
      environment: 'test',
      publicUrl,
      store: memoryStore(),
      log: () => {},
    });
    const app = express();
    return app.get('/report/:id', paid(paywall, metered ? { max: price, price } : { price }));
  }
  // Only the other side needs its packages, which are installed in their own folder.
  const { paidApp } = await import('../../test/interop/x402/paid-app.mjs');
  const { facilitatorUrl, network, payTo, price } = settings;
  return paidApp({
    facilitatorUrl,
    network,
    payTo,
    path: '/report/[id]',
    price: `$${Number(price) / 1e6}`,
  });
};

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as { port: number };
const address = `http://127.0.0.1:${port}`;
const app = await createApp(JSON.parse(process.argv[2]!) as VendorSettings, address);
app.get('/report/:id', (_request, response) => {
  response.json(DELIVERY);
});
server.on('request', app);
process.on('disconnect', () => process.exit());
process.send!({ address });
