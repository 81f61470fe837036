// A vendor as in the documentation of @x402/hono. It prints its URL, and a line per delivery.
import { serve } from '@hono/node-server';
import { paymentMiddleware, x402ResourceServer } from '@x402/hono';
import { Hono } from 'hono';
import { print, settings } from '../program.mjs';
import { resourceOf } from './vendor.mjs';

const { routes, server } = resourceOf(settings(), x402ResourceServer);
let deliveries = 0;
const app = new Hono();
app.use(paymentMiddleware(routes, server));
app.get('/paid', (context) => {
  deliveries += 1;
  print({ delivered: deliveries });
  return context.json({ delivery: deliveries });
});
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  print({ url: `http://127.0.0.1:${port}/paid` }),
);
