import { payingFetch } from '@quittance/sdk/pay';

const [url] = process.argv.slice(2);
const { QUITTANCE_URL, DELEGATE_KEY } = process.env;
if (url === undefined || QUITTANCE_URL === undefined || DELEGATE_KEY === undefined)
  throw new Error('usage: QUITTANCE_URL=… DELEGATE_KEY=… node buyer.ts <address>');

// At most 0.50 USDC for one answer, whatever the vendor demands.
const pay = payingFetch(fetch, { baseUrl: QUITTANCE_URL, delegateKey: DELEGATE_KEY, maxAmount: 500_000n });
const response = await pay(url);
// A vendor whose handler fails may answer in any format.
const isJson = response.headers.get('content-type')?.includes('json');
const body: unknown = await (isJson ? response.json() : response.text());
console.log(JSON.stringify({ status: response.status, body }));
