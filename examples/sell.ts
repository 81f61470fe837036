// sell.ts
import { paid } from '@quittance/sdk/express';
import { createPaywall, memoryStore } from '@quittance/sdk/vendor';
import express from 'express';

const { QUITTANCE_URL, SERVICE_KEY, SERVICE_ID, PUBLIC_URL = 'http://127.0.0.1:8402' } = process.env;
const paywall = createPaywall({
  baseUrl: QUITTANCE_URL!,
  serviceKey: SERVICE_KEY!,
  serviceId: SERVICE_ID!,
  environment: 'test',
  publicUrl: PUBLIC_URL,
  store: memoryStore(), // keep payments in Redis or Postgres: examples/
});
await paywall.check('$0.05'); // ends here if the key, the service or the price is wrong
const app = express();
app.get('/report', paid(paywall, { price: '$0.05' }), (_, response) =>
  response.json({ report: 'All is well.' }),
);
app.listen(8402); // 0.04 USDC of it are yours: the smallest fee is 0.01 USDC
