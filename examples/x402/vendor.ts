// A vendor of @x402/express that accepts payments through Quittance. It uses nothing of Quittance
// but the facilitator's address and the service key.
import { HTTPFacilitatorClient } from '@x402/core/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import express from 'express';

/** Solana's devnet: the network of service keys that begin with `vendor_test_`. */
const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const { QUITTANCE_URL, SERVICE_KEY, PAY_TO, PORT } = process.env;
if (QUITTANCE_URL === undefined || SERVICE_KEY === undefined || PAY_TO === undefined)
  throw new Error('usage: QUITTANCE_URL=… SERVICE_KEY=… PAY_TO=<payout address> PORT=… node vendor.ts');

const headers = { authorization: `Bearer ${SERVICE_KEY}` };
const facilitator = new HTTPFacilitatorClient({
  url: `${QUITTANCE_URL}/v1/x402`,
  createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
});
const server = new x402ResourceServer(facilitator).register(NETWORK, new ExactSvmScheme());
const accepts = { scheme: 'exact', network: NETWORK, payTo: PAY_TO, price: '$0.05' } as const;

const app = express();
app.use(paymentMiddleware({ 'GET /report': { accepts, description: 'A report of a city' } }, server));
app.get('/report', (request, response) => {
  response.json({ report: `All is well in ${request.query.city}.` });
});
app.listen(Number(PORT), '127.0.0.1', () => console.log('ready'));
