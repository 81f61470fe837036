import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound, ServiceError } from '../../../shared/contract/errors.ts';
import type { Limits } from '../limits/limits.ts';
import { type Asset, createPageLimit, FILES_A_MINUTE, IMMUTABLE, loadAssets, sendAsset } from './assets.ts';

/**
 * The console may load its own files and call the API of this origin, nothing else: no inline
 * script or style, no frame in either direction, no form target, no string that becomes a script.
 * The only policy that may create a script address is for its worker.
 */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'; trusted-types quittance-worker",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** The page of a receipt reads the public keys only. A receipt may come from anyone. */
const RECEIPT_HEADERS = {
  ...HEADERS,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
};

/**
 * The address at localhost of a page of this machine that a browser opens by a bare address.
 * Browsers allow passkeys at localhost alone, and a sign-in belongs to one host: a payment begun at
 * another one would never learn of it. Null: the page is where it should be.
 */
const atLocalhost = ({ headers, url }: FastifyRequest, browserOrigins: readonly string[]): string | null => {
  if (headers['sec-fetch-mode'] !== 'navigate') return null;
  const called = URL.parse(`http://${headers.host}`);
  if (called?.hostname !== '127.0.0.1' && called?.hostname !== '[::1]') return null;
  const origin = `http://localhost:${called.port}`;
  return browserOrigins.includes(origin) ? `${origin}${url}` : null;
};

/**
 * GET /console and everything below: the built files, and for any other path the page, whose script
 * shows the view of that path. A file under /assets/ has its hash in its name and never changes.
 * GET /pay is the payment page of browsers that met a 402. The order is in the fragment of its
 * address, so it never arrives here. GET /pay/<environment>/<payment_link_id> is the same page for
 * a payment link.
 * GET /receipt is the page of a signed receipt. The receipt is in the fragment of the page's
 * address, so it never arrives here.
 * @param consoleFolder the output of `console/build.ts`. A gateway also runs without it, for
 * instance from sources alone.
 */
export const registerConsole = (
  app: FastifyInstance,
  {
    consoleFolder,
    limits,
    browserOrigins,
  }: { consoleFolder: string; limits: Pick<Limits, 'scaled'>; browserOrigins: readonly string[] },
): void => {
  const assets = loadAssets(consoleFolder);
  const count = createPageLimit(limits, FILES_A_MINUTE);
  const page = (name: string): Asset => {
    const found = assets.get(name);
    if (found !== undefined) return found;
    throw new ServiceError(
      'not_found',
      'this gateway has no console; build it with npm start before the gateway starts',
    );
  };
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    count(request, reply);
    void reply.headers(HEADERS);
    const index = page('index.html');
    const name = (request.params as { '*'?: string })['*'] ?? '';
    if (!name.startsWith('assets/')) {
      void reply.header('cache-control', 'no-cache');
      return sendAsset(request, reply, index);
    }
    const asset = assets.get(name);
    if (asset === undefined) throw notFound('file of the console');
    void reply.headers(IMMUTABLE);
    return sendAsset(request, reply, asset);
  };
  const own = {
    config: { document: 'own' },
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      const address = atLocalhost(request, browserOrigins);
      // The fragment stays: browsers keep it over a redirect.
      if (address !== null) return reply.redirect(address, 307);
    },
  } as const;
  app.get('/console', own, serve);
  app.get('/console/*', own, serve);
  const pay = async (request: FastifyRequest, reply: FastifyReply) => {
    count(request, reply);
    void reply.headers(HEADERS).header('cache-control', 'no-cache');
    return sendAsset(request, reply, page('pay.html'));
  };
  app.get('/pay', own, pay);
  app.get('/pay/:environment/:payment_link_id', own, pay);
  app.get('/receipt', own, async (request, reply) => {
    count(request, reply);
    void reply.headers(RECEIPT_HEADERS).header('cache-control', 'no-cache');
    return sendAsset(request, reply, page('receipt.html'));
  });
};
