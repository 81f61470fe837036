import { paid } from '@quittance/sdk/next';
import { paymentOf } from '@quittance/sdk/vendor';
import { paywallOf } from '../../../paywall.ts';
import { FORECASTS, reportOn } from '../../../shop.ts';

export const GET = paid(paywallOf(), FORECASTS, (request) =>
  Response.json(reportOn('the sky', paymentOf(request)!.deliveryId)),
);
