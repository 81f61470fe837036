// A vendor as in the documentation of @x402/express. It prints its URL, and a line per delivery.
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import express from 'express';
import { print, settings } from '../program.mjs';
import { resourceOf } from './vendor.mjs';

const { routes, server } = resourceOf(settings(), x402ResourceServer);
let deliveries = 0;
const app = express();
app.use(paymentMiddleware(routes, server));
app.get('/paid', (_request, response) => {
  deliveries += 1;
  print({ delivered: deliveries });
  response.json({ delivery: deliveries });
});
const listening = app.listen(0, '127.0.0.1', () =>
  print({ url: `http://127.0.0.1:${listening.address().port}/paid` }),
);
