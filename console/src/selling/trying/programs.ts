import { plainUsdc } from '../../../../sdk/src/generated/usdc.ts';

/**
 * The programs that the console shows: each is one file that runs as copied, with the service and
 * this gateway filled in. test/browser/console-snippets.test.ts compiles and runs all of them.
 */

/** What is filled in. The keys are never: they are in the environment of the process. */
export type Filled = {
  baseUrl: string;
  environment: 'test' | 'live';
  serviceId: string;
  /** Micro-units. */
  price: string;
};

export const FRAMEWORKS = ['express', 'fastify', 'hono', 'next'] as const;
export type Framework = (typeof FRAMEWORKS)[number];

/** Quotes a text for TypeScript and a shell. An id and an address have nothing to escape. */
const quoted = (text: string): string => `'${text.replace(/[\\\u0027]/g, '')}'`;

const paywall = ({ baseUrl, environment, serviceId }: Filled): string => `const paywall = createPaywall({
  baseUrl: process.env.QUITTANCE_URL ?? ${quoted(baseUrl)},
  serviceKey: process.env.SERVICE_KEY!,
  serviceId: process.env.SERVICE_ID ?? ${quoted(serviceId)},
  environment: ${quoted(environment)},
  // Signed into every quote: the address at which buyers call this server.
  publicUrl: process.env.PUBLIC_URL ?? 'http://localhost:8402',
  store: memoryStore(), // for a first try: several processes share a store
});`;

const usdc = ({ price }: Filled): string => `'$${plainUsdc(price)}'`;
const priceOf = (filled: Filled): string => `{ price: ${usdc(filled)} }`;
const VENDOR = "import { createPaywall, memoryStore } from '@quittance/sdk/vendor';";

const ROUTES: Record<Framework, (filled: Filled) => string> = {
  express: (filled) => `import { paid } from '@quittance/sdk/express';
${VENDOR}
import express from 'express';

${paywall(filled)}

const app = express();
app.get('/report', paid(paywall, ${priceOf(filled)}), (_request, response) => {
  response.json({ report: 'All is well.' });
});
app.listen(8402);
`,
  fastify: (filled) => `import { paid } from '@quittance/sdk/fastify';
${VENDOR}
import fastify from 'fastify';

${paywall(filled)}

const app = fastify();
app.get('/report', { preHandler: paid(paywall, ${priceOf(filled)}) }, async () => ({
  report: 'All is well.',
}));
await app.listen({ port: 8402 });
`,
  hono: (filled) => `import { serve } from '@hono/node-server';
import { paid } from '@quittance/sdk/hono';
${VENDOR}
import { Hono } from 'hono';

${paywall(filled)}

const app = new Hono();
app.get('/report', paid(paywall, ${priceOf(filled)}), (c) => c.json({ report: 'All is well.' }));
serve({ fetch: app.fetch, port: 8402 });
`,
  next: (filled) => `import { paid } from '@quittance/sdk/next';
${VENDOR}

${paywall(filled)}

export const GET = paid(paywall, ${priceOf(filled)}, async () => Response.json({ report: 'All is well.' }));
`,
};

/** A vendor in one file. */
export const vendorProgram = (framework: Framework, filled: Filled): string => ROUTES[framework](filled);

/** The file of a vendor, and what it needs besides the SDK. */
export const VENDOR_FILES: Record<Framework, { file: string; packages: string; start: string }> = {
  express: { file: 'vendor.ts', packages: 'express', start: 'node vendor.ts' },
  fastify: { file: 'vendor.ts', packages: 'fastify', start: 'node vendor.ts' },
  hono: { file: 'vendor.ts', packages: 'hono @hono/node-server', start: 'node vendor.ts' },
  next: { file: 'app/report/route.ts', packages: 'next react react-dom', start: 'npx next dev -p 8402' },
};

/** The commands before the first start. The package is not published yet. */
export const installCommands = (framework: Framework): string => `# In the repository of Quittance:
npm pack ./sdk --pack-destination /tmp
# In the folder of your server:
npm init -y && npm pkg set type=module
npm install /tmp/quittance-sdk-*.tgz ${VENDOR_FILES[framework].packages}
`;

/** The commands that start a vendor and call its route. */
export const startCommands = (framework: Framework, { environment }: Filled): string =>
  `export SERVICE_KEY=vendor_${environment}_…
${VENDOR_FILES[framework].start} &
curl -i --retry 20 --retry-connrefused --retry-delay 1 http://localhost:8402/report
`;

/** A buyer in one file. */
export const buyerProgram = (
  filled: Filled,
): string => `import { payingFetch, receiptOf } from '@quittance/sdk/pay';

const pay = payingFetch(fetch, {
  baseUrl: process.env.QUITTANCE_URL ?? ${quoted(filled.baseUrl)},
  delegateKey: process.env.DELEGATE_KEY!,
  maxAmount: ${usdc(filled)}, // for one answer
});
const answer = await pay(process.argv[2] ?? 'http://localhost:8402/report');
console.log(await answer.json(), receiptOf(answer));
`;

/** The calls without a paywall, in three languages. */
export const callPrograms = ({ baseUrl, serviceId }: Filled) =>
  ({
    typescript: `import { createClient } from '@quittance/sdk';

const baseUrl = process.env.QUITTANCE_URL ?? ${quoted(baseUrl)};
const vendor = createClient({ baseUrl, credential: process.env.SERVICE_KEY! });
const buyer = createClient({ baseUrl, credential: process.env.DELEGATE_KEY! });

const { quote_token } = await vendor.quote.create({
  service_id: process.env.SERVICE_ID ?? ${quoted(serviceId)},
});
const { settlement_id, settlement_token } = await buyer.settlement.settle({ quote_token });
// Returns once for a settlement. A repeat throws AlreadyRedeemedError: deliver nothing then.
await vendor.settlement.redeemOnce({ settlement_id, settlement_token });
console.log('deliver', settlement_id);
`,
    bash: `QUITTANCE_URL=\${QUITTANCE_URL:-${quoted(baseUrl)}}
SERVICE_ID=\${SERVICE_ID:-${quoted(serviceId)}}
field() { sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/"; }

QUOTE_TOKEN=$(curl -sf "$QUITTANCE_URL/v1/quote" -H "Authorization: Bearer $SERVICE_KEY" \\
  -H 'Content-Type: application/json' -d "{\\"service_id\\": \\"$SERVICE_ID\\"}" | field quote_token)

# Keep the attempt's id: the same call with the same id never pays twice.
ATTEMPT=attempt-$(date +%s)
PAID=$(curl -sf "$QUITTANCE_URL/v1/settle" -H "Authorization: Bearer $DELEGATE_KEY" \\
  -H 'Content-Type: application/json' \\
  -d "{\\"quote_token\\": \\"$QUOTE_TOKEN\\", \\"payment_attempt_id\\": \\"$ATTEMPT\\"}")

# Deliver only if the answer has "replayed":false.
curl -sf "$QUITTANCE_URL/v1/settlements/$(echo "$PAID" | field settlement_id)/redeem" \\
  -H "Authorization: Bearer $SERVICE_KEY" -H 'Content-Type: application/json' \\
  -d "{\\"settlement_token\\": \\"$(echo "$PAID" | field settlement_token)\\"}"
`,
    python: `import json, os, urllib.request, uuid

base_url = os.environ.get("QUITTANCE_URL", ${JSON.stringify(baseUrl)})
service_id = os.environ.get("SERVICE_ID", ${JSON.stringify(serviceId)})

def call(path, key, body):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(base_url + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.status, json.load(answer)

vendor, buyer = os.environ["SERVICE_KEY"], os.environ["DELEGATE_KEY"]
_, quote = call("/v1/quote", vendor, {"service_id": service_id})
# Store the attempt first: the same call with the same id never pays twice.
attempt = {"quote_token": quote["quote_token"], "payment_attempt_id": str(uuid.uuid4())}
status, paid = call("/v1/settle", buyer, attempt)
while status == 202:  # pending: the same call waits for the result
    status, paid = call("/v1/settle", buyer, attempt)
_, redeemed = call(f"/v1/settlements/{paid['settlement_id']}/redeem", vendor,
                   {"settlement_token": paid["settlement_token"]})
if not redeemed["replayed"]:
    print("deliver", paid["settlement_id"])
`,
  }) as const;
