// A vendor as in the documentation of @x402/express. It prints its URL, and a line per delivery.
import { print, settings } from '../program.mjs';
import { paidApp } from './paid-app.mjs';

let deliveries = 0;
const app = paidApp(settings());
app.get('/paid', (_request, response) => {
  deliveries += 1;
  print({ delivered: deliveries });
  response.json({ delivery: deliveries });
});
const listening = app.listen(0, '127.0.0.1', () =>
  print({ url: `http://127.0.0.1:${listening.address().port}/paid` }),
);
