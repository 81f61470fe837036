import { serve } from '@hono/node-server';
import { paid } from '@quittance/sdk/hono';
import { paymentOf } from '@quittance/sdk/vendor';
import { Hono } from 'hono';
import { checkAtStart, paywallOf } from './paywall.ts';
import { FORECASTS, LONG_REPORT_PRICE, REPORT_PRICE, reportOn } from './shop.ts';

const paywall = paywallOf();
const app = new Hono();

app.get('/report', paid(paywall, { price: REPORT_PRICE }), (c) =>
  c.json(reportOn(c.req.query('city')!, paymentOf(c)!.deliveryId)),
);
app.post('/report', paid(paywall, { price: LONG_REPORT_PRICE }), async (c) => {
  const { city } = await c.req.json<{ city: string }>();
  return c.json(reportOn(city, paymentOf(c)!.deliveryId));
});
app.get('/forecast', paid(paywall, FORECASTS), (c) => c.json(reportOn('the sky', paymentOf(c)!.deliveryId)));

void checkAtStart(paywall, REPORT_PRICE, LONG_REPORT_PRICE, FORECASTS.price);
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT) });
