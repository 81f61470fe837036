import { createServer } from 'node:http';
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from '@quittance/sdk';

const { WEBHOOK_SECRET, PORT } = process.env;
if (WEBHOOK_SECRET === undefined || PORT === undefined)
  throw new Error('usage: WEBHOOK_SECRET=whsec_… PORT=… node webhook.ts');
// While the secret is rotated: both, separated by a space.
const secrets = WEBHOOK_SECRET.split(' ');

/** The type of an event determines its data. */
const textOf = (event: WebhookEvent): string => {
  switch (event.type) {
    case 'settlement.redeemed':
      return `${event.data.settlement_id} was redeemed, ${event.data.net_amount} micro-units are ours`;
    case 'refund.finalized':
      return `${event.data.refund_id} has returned ${event.data.amount} micro-units`;
    default:
      return event.type;
  }
};

// A delivery can be repeated. A real receiver stores the id together with its work.
const handled = new Set<string>();

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const event = await verifyWebhook(Buffer.concat(chunks), request.headers, secrets);
    if (!handled.has(event.id)) console.log(JSON.stringify({ id: event.id, text: textOf(event) }));
    handled.add(event.id);
    response.writeHead(204).end();
  } catch (error) {
    // After any answer but 2xx the API repeats the delivery.
    response.writeHead(error instanceof WebhookVerificationError ? 400 : 500).end();
    console.error(error instanceof Error ? error.message : error);
  }
});
server.listen(Number(PORT), '127.0.0.1');
