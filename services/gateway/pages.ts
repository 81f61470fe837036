import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
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

type Page = {
  type: string;
  content: string;
  headers?: Record<string, string>;
  /** The content gzipped, for callers that take it, where that is worth it. */
  gzipped?: Buffer;
};

const file = (name: string, type: string): Page => ({
  type: `${type}; charset=utf-8`,
  content: readFileSync(new URL(`./pages/${name}`, import.meta.url), 'utf8'),
});
const json = (value: unknown): Page => ({
  type: 'application/json; charset=utf-8',
  content: JSON.stringify(value),
});

/** What the gateway shows besides the API and the console: the API's description in three forms. */
export const registerPages = (app: FastifyInstance, { publicUrl }: Pick<Deps, 'publicUrl'>): void => {
  const pages: Record<string, Page> = {
    '/': json({
      name: 'Quittance',
      openapi: `${publicUrl}/openapi.json`,
      docs: `${publicUrl}/docs`,
      llms: `${publicUrl}/llms.txt`,
      console: `${publicUrl}/console`,
      health: `${publicUrl}/v1/health`,
    }),
    '/openapi.json': json(openApiDocument({ serverUrl: publicUrl })),
    '/docs': { ...file('docs.html', 'text/html'), headers: REFERENCE_HEADERS },
    '/llms.txt': { type: 'text/plain; charset=utf-8', content: llmsText({ serverUrl: publicUrl }) },
  };
  const window = createSlidingWindow();
  const serve = (url: string, { type, content, headers = PAGE_HEADERS, gzipped }: Page) => {
    app.get(url, async (request, reply) => {
      const taken = window.take(addressGroup(request.origin.address), LIMIT.points, LIMIT.windowSeconds);
      admit(reply, [{ ...LIMIT, ...taken }]);
      void reply.type(type).headers(headers);
      if (gzipped === undefined) return reply.send(content);
      void reply.header('vary', 'accept-encoding');
      if (!takes('gzip', request.headers['accept-encoding'])) return reply.send(content);
      return reply.header('content-encoding', 'gzip').send(gzipped);
    });
  };
  for (const [url, page] of Object.entries(pages)) serve(url, page);
  // Read before the server listens, so that no caller waits for it and a package without it is noticed at once.
  app.register(async () => {
    const { plain, gzipped } = await referenceScript();
    serve('/docs.js', {
      type: 'text/javascript; charset=utf-8',
      content: plain,
      gzipped,
      headers: { ...PAGE_HEADERS, 'cache-control': 'public, max-age=3600' },
    });
  });
};
