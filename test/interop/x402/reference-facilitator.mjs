// The reference facilitator of x402 behind HTTP.
import { settings } from '../program.mjs';
import { application, facilitatorOf } from './facilitator.mjs';

const { port, ...given } = settings();
const { facilitator } = await facilitatorOf(given);
const { app, listen } = application(port);
app.get('/supported', (_request, response) => response.json(facilitator.getSupported()));
for (const operation of ['verify', 'settle'])
  app.post(`/${operation}`, async ({ body }, response) => {
    response.json(await facilitator[operation](body.paymentPayload, body.paymentRequirements));
  });
listen();
