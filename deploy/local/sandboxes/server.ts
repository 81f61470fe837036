import { type FastifyInstance, fastify } from 'fastify';
import { registerCoinbase } from './coinbase.ts';
import type { SandboxConfig } from './config.ts';
import { createDelivery } from './delivery.ts';
import { registerMoonpay } from './moonpay.ts';
import { PAGE_HEADERS, page } from './page.ts';
import { createPurchaseFlow } from './purchase-flow.ts';
import { openPurchases } from './purchases.ts';
import { openTreasury } from './treasury.ts';

/** For a person who opens the server's address. A purchase has its own address. */
const START = `<p>This server replaces MoonPay (<code>/moonpay/</code>) and Coinbase Onramp
(<code>/coinbase/</code>). Start a deposit in the console or by <code>POST /v1/deposits/fiat</code>. The
answer has the address of the provider's page for that purchase.</p>`;

/** The server of both providers, before it listens: `/moonpay/…` and `/coinbase/…`. */
export const createSandboxes = (config: SandboxConfig): FastifyInstance => {
  const purchases = openPurchases(config.ONRAMPS_DATA_DIR);
  const treasury = openTreasury(
    {
      rpcUrl: config.ONRAMPS_RPC_URL,
      mint: config.ONRAMPS_MINT,
      secretKey: config.ONRAMPS_TREASURY_KEY,
    },
    purchases,
  );
  const flow = createPurchaseFlow({ purchases, treasury, delivery: createDelivery() });
  const webhookUrl = (provider: string) =>
    `${config.ONRAMPS_WEBHOOKS}/${provider}/${config.ONRAMPS_ENVIRONMENT}/webhook`;
  const { moonpay, coinbase } = config.ONRAMPS_KEYS;

  const app = fastify({ logger: false, bodyLimit: 64 * 1024, forceCloseConnections: true });
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
  );
  const names = new Set(['127.0.0.1', 'localhost', config.ONRAMPS_HOST]);
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(PAGE_HEADERS);
    // DNS rebinding: a foreign site whose name resolves to this machine must not use the sandbox.
    if (!names.has(request.headers.host?.replace(/:\d+$/, ''))) {
      return reply.code(421).send('Use 127.0.0.1 or localhost.\n');
    }
  });
  app.get('/health', () => ({ status: 'ok' }));
  app.get('/', (_request, reply) => reply.type('text/html').send(page('Fiat providers', START)));
  void app.register(
    async (scope) =>
      registerMoonpay(scope, { keys: moonpay, purchases, flow, webhookUrl: webhookUrl('moonpay') }),
    { prefix: '/moonpay' },
  );
  void app.register(
    async (scope) =>
      registerCoinbase(scope, {
        keys: coinbase,
        purchases,
        flow,
        webhookUrl: webhookUrl('coinbase'),
        baseUrl: () => `http://127.0.0.1:${config.ONRAMPS_PORT}/coinbase`,
      }),
    { prefix: '/coinbase' },
  );
  app.addHook('onListen', async () => flow.resume());
  return app;
};
