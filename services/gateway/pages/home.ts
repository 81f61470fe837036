import { escapeHtml, htmlPage, list } from './html.ts';

const FIRST_PAYMENT = (serverUrl: string): string => `import { createClient } from '@quittance/sdk';

const vendor = createClient({ baseUrl: '${serverUrl}', credential: 'vendor_test_…' });
const payer = createClient({ baseUrl: '${serverUrl}', credential: 'dk_test_…' });
const { quote_token } = await vendor.quote.create({ service_id: '…' });
const { settlement_id, settlement_token } = await payer.settlement.settle({ quote_token });
// Returns once for a settlement. A repeat throws AlreadyRedeemedError, so it delivers nothing.
await vendor.settlement.redeemOnce({ settlement_id, settlement_token });
deliver();`;

const LINKS = [
  ['/docs/guides', 'Guides', 'sell an API, pay for one, give an agent a budget, test and go live'],
  ['/docs', 'Reference', 'every call with its fields and examples'],
  ['/docs/errors', 'Errors', 'every error code with its causes and what to do'],
  ['/console', 'Console', 'sign in, create a service or a delegate, and see payments'],
  ['/openapi.json', 'OpenAPI', 'the same reference as OpenAPI 3.1'],
  ['/llms.txt', 'llms.txt', 'a short description for language models'],
  ['/v1/health/ready', 'Status', 'the state of each environment'],
] as const;

/** / for browsers. Other clients get the same links as JSON. */
export const homeHtml = ({ serverUrl }: { serverUrl: string }): string =>
  htmlPage({
    title: 'Quittance API',
    body: `<h1>Quittance</h1>
<p>Pay for an API call in USDC on Solana: the vendor quotes, the payer settles, the vendor redeems and delivers.</p>
${list(LINKS.map(([href, name, text]) => `<a href="${href}">${name}</a>: ${text}`))}
<h2>The first payment</h2>
<p>The SDK is not published yet: <code>npm pack ./sdk</code> in the repository makes its package. The console shows the keys. Amounts are strings of micro-units: <code>"50000"</code> is 0.05 USDC, of which the vendor pays the
<a href="/docs/guides/limits">fee</a>.</p>
<pre><code>${escapeHtml(FIRST_PAYMENT(serverUrl))}</code></pre>`,
  });
