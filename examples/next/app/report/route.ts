import { paid } from '@quittance/sdk/next';
import { paymentOf } from '@quittance/sdk/vendor';
import { paywallOf } from '../../../paywall.ts';
import { LONG_REPORT_PRICE, REPORT_PRICE, reportOn } from '../../../shop.ts';

const paywall = paywallOf();

export const GET = paid(paywall, { price: REPORT_PRICE }, (request) => {
  const city = new URL(request.url).searchParams.get('city')!;
  return Response.json(reportOn(city, paymentOf(request)!.deliveryId));
});

export const POST = paid(paywall, { price: LONG_REPORT_PRICE }, async (request) => {
  const { city } = (await request.json()) as { city: string };
  return Response.json(reportOn(city, paymentOf(request)!.deliveryId));
});
