import { paid } from '@quittance/sdk/express';
import { paymentOf } from '@quittance/sdk/vendor';
import express from 'express';
import { checkAtStart, paywallOf } from './paywall.ts';
import { FORECASTS, LONG_REPORT_PRICE, REPORT_PRICE, reportOn } from './shop.ts';

const paywall = paywallOf();
const app = express();
// Body parsers come before the paywall, because the body is part of the paid request.
app.use(express.json());

app.get('/report', paid(paywall, { price: REPORT_PRICE }), (request, response) => {
  response.json(reportOn(String(request.query.city), paymentOf(request)!.deliveryId));
});
app.post('/report', paid(paywall, { price: LONG_REPORT_PRICE }), (request, response) => {
  response.json(reportOn(request.body.city, paymentOf(request)!.deliveryId));
});
app.get('/forecast', paid(paywall, FORECASTS), (request, response) => {
  response.json(reportOn('the sky', paymentOf(request)!.deliveryId));
});

void checkAtStart(paywall, REPORT_PRICE, LONG_REPORT_PRICE, FORECASTS.price);
app.listen(Number(process.env.PORT), '127.0.0.1');
