// Signs payments for `requirements` without sending them, as a buyer does after a 402.
import { print, repeat, settings } from '../program.mjs';
import { clientOf } from './client.mjs';

const { rpcUrl, secretKey, requirements, ...plan } = settings();
const client = await clientOf({ rpcUrl, secretKey });
const resource = {
  url: 'http://127.0.0.1/paid',
  description: 'A paid resource',
  mimeType: 'application/json',
};
print({ ready: true });
await repeat(plan, async () => ({
  payload: await client.createPaymentPayload({ x402Version: 2, resource, accepts: [requirements] }),
}));
