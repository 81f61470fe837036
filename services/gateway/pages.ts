import { readFileSync } from 'node:fs';
import { createGunzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { llmsText } from '../../shared/contract/llms.ts';
import { openApiDocument } from '../../shared/contract/openapi.ts';
import { takes } from './accepted.ts';
import { addressGroup } from './address.ts';
import type { Deps } from './deps.ts';
import { admit } from './quota.ts';
import { referenceScript } from './reference.ts';
import { createSlidingWindow } from './sliding-window.ts';

const LIMIT = { points: 120, windowSeconds: 60, per: 'ip' } as const;

/** The page may run its own script and talk to this origin, nothing else; nobody may frame it or see its address. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

/** Scalar writes its style into the page while it runs; its script stays a file, and no other origin is asked. */
const REFERENCE_HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

const SCRIPT_HEADERS = {
  ...PAGE_HEADERS,
  'cache-control': 'public, max-age=3600',
  vary: 'accept-encoding',
};

type Page = {
  type: string;
  /** Made when it is asked for. */
  content: () => string;
  headers?: Record<string, string>;
};

/** Read at the start: that one is missing is noticed at once. */
const file = (name: string, type: string): Page => {
  const content = readFileSync(new URL(`./pages/${name}`, import.meta.url), 'utf8');
  return { type: `${type}; charset=utf-8`, content: () => content };
};
const json = (value: () => unknown): Page => ({
  type: 'application/json; charset=utf-8',
  content: once(() => JSON.stringify(value())),
});
const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

/** What the gateway shows besides the API and the console: the API's description in three forms. */
export const registerPages = (app: FastifyInstance, { publicUrl }: Pick<Deps, 'publicUrl'>): void => {
  const pages: Record<string, Page> = {
    '/': json(() => ({
      name: 'Quittance',
      openapi: `${publicUrl}/openapi.json`,
      docs: `${publicUrl}/docs`,
      llms: `${publicUrl}/llms.txt`,
      console: `${publicUrl}/console`,
      health: `${publicUrl}/v1/health`,
    })),
    '/openapi.json': json(() => openApiDocument({ serverUrl: publicUrl })),
    '/docs': { ...file('docs.html', 'text/html'), headers: REFERENCE_HEADERS },
    '/llms.txt': {
      type: 'text/plain; charset=utf-8',
      content: once(() => llmsText({ serverUrl: publicUrl })),
    },
  };
  const window = createSlidingWindow();
  const count = (request: FastifyRequest, reply: FastifyReply) => {
    const taken = window.take(addressGroup(request.origin.address), LIMIT.points, LIMIT.windowSeconds);
    admit(reply, [{ ...LIMIT, ...taken }]);
  };
  for (const [url, { type, content, headers = PAGE_HEADERS }] of Object.entries(pages))
    app.get(url, async (request, reply) => {
      count(request, reply);
      return reply.type(type).headers(headers).send(content());
    });

  let script: Promise<Buffer> | undefined;
  app.get('/docs.js', async (request, reply) => {
    count(request, reply);
    script ??= referenceScript();
    // Who asks next tries anew.
    script.catch(() => {
      script = undefined;
    });
    const gzipped = await script;
    void reply.type('text/javascript; charset=utf-8').headers(SCRIPT_HEADERS);
    if (takes('gzip', request.headers['accept-encoding']))
      return reply.header('content-encoding', 'gzip').send(gzipped);
    const plain = createGunzip();
    plain.end(gzipped);
    return reply.send(plain);
  });
};
