// A buyer as in the documentation of @x402/fetch. It pays `url` several times and ends.
import { decodePaymentResponseHeader } from '@x402/fetch';
import { bodyOf, print, repeat, settings } from '../program.mjs';
import { payingFetchOf } from './paying-fetch.mjs';

const { url, rpcUrl, secretKey, ...plan } = settings();
const payingFetch = await payingFetchOf({ rpcUrl, secretKey });
print({ ready: true });
await repeat(plan, async () => {
  const response = await payingFetch(url);
  const receipt = response.headers.get('PAYMENT-RESPONSE');
  return {
    status: response.status,
    body: await bodyOf(response),
    receipt: receipt === null ? null : decodePaymentResponseHeader(receipt),
  };
});
