import { paid } from '@quittance/sdk/fastify';
import { paymentOf } from '@quittance/sdk/vendor';
import fastify, { type FastifyRequest } from 'fastify';
import { checkAtStart, paywallOf } from './paywall.ts';
import { FORECASTS, LONG_REPORT_PRICE, REPORT_PRICE, reportOn } from './shop.ts';

type City = { city: string };
const paywall = paywallOf();
const app = fastify();
const deliveryOf = (request: FastifyRequest) => paymentOf(request)!.deliveryId;

app.get<{ Querystring: City }>(
  '/report',
  { preHandler: paid(paywall, { price: REPORT_PRICE }) },
  async (request) => reportOn(request.query.city, deliveryOf(request)),
);
app.post<{ Body: City }>(
  '/report',
  { preHandler: paid(paywall, { price: LONG_REPORT_PRICE }) },
  async (request) => reportOn(request.body.city, deliveryOf(request)),
);
app.get('/forecast', { preHandler: paid(paywall, FORECASTS) }, async (request) =>
  reportOn('the sky', deliveryOf(request)),
);

void checkAtStart(paywall, REPORT_PRICE, LONG_REPORT_PRICE, FORECASTS.price);
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
