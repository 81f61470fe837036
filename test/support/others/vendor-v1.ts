import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a facilitator names version 1 of the test network. */
export const V1_NETWORK = 'solana-devnet';

/**
 * The least that a buyer of x402 version 1 needs: a vendor of one resource, which settles at a
 * facilitator.
 * @param options `amount` in micro-units
 */
export const startVendorV1 = async ({
  facilitatorUrl,
  feePayer,
  payTo,
  mint,
  amount,
}: {
  facilitatorUrl: string;
  feePayer: string;
  payTo: string;
  mint: string;
  amount: bigint;
}) => {
  const requirements = {
    scheme: 'exact',
    network: V1_NETWORK,
    maxAmountRequired: amount.toString(),
    resource: 'http://127.0.0.1/paid',
    description: 'A paid resource',
    mimeType: 'application/json',
    payTo,
    maxTimeoutSeconds: 60,
    asset: mint,
    extra: { feePayer },
  };
  const server = createServer(async ({ headers }, response) => {
    const header = headers['x-payment'] as string | undefined;
    response.setHeader('content-type', 'application/json');
    if (header === undefined) {
      const body = { x402Version: 1, error: 'X-PAYMENT header is required', accepts: [requirements] };
      return void response.writeHead(402).end(JSON.stringify(body));
    }
    const paymentPayload: unknown = JSON.parse(Buffer.from(header, 'base64').toString());
    const settled = await fetch(`${facilitatorUrl}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ x402Version: 1, paymentPayload, paymentRequirements: requirements }),
    });
    const receipt = (await settled.json()) as { success: boolean };
    response.setHeader('X-PAYMENT-RESPONSE', Buffer.from(JSON.stringify(receipt)).toString('base64'));
    response.writeHead(receipt.success ? 200 : 402).end(JSON.stringify({ delivery: 1 }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/paid`,
    stop: (): void => {
      server.closeAllConnections();
      server.close();
    },
  };
};
