// Several vendors as in the documentation of @x402/express, each with a facilitator of its own, in
// one process. The path of a resource is `/<vendor>/<address that is paid>`.
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import express from 'express';
import { print, settings } from '../program.mjs';
import { resourceOf } from './vendor.mjs';

/** `facilitatorUrls`: by the vendor's name. The others are those of vendor.mjs. */
const { facilitatorUrls, ...shared } = settings();
const app = express();
for (const [name, facilitatorUrl] of Object.entries(facilitatorUrls)) {
  const payTo = ({ path }) => path.split('/').at(-1);
  const resource = { ...shared, facilitatorUrl, payTo, path: `/${name}/[payee]` };
  const { routes, server } = resourceOf(resource, x402ResourceServer);
  app.use(paymentMiddleware(routes, server));
}
app.get('/:vendor/:payee', ({ path }, response) => {
  print({ delivered: path });
  response.json({ delivered: path });
});
const listening = app.listen(0, '127.0.0.1', () =>
  print({ url: `http://127.0.0.1:${listening.address().port}` }),
);
