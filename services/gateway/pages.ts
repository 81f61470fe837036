import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../../shared/contract/openapi.ts';
import { addressGroup } from './address.ts';
import type { Deps } from './deps.ts';
import { admit } from './quota.ts';
import { createSlidingWindow } from './sliding-window.ts';

const LIMIT = { points: 120, windowSeconds: 60, per: 'ip' } as const;

/** The page may run its own script and talk to this origin, nothing else; nobody may frame it or see its address. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

type Page = { type: string; content: string };

const file = (name: string, type: string): Page => ({
  type: `${type}; charset=utf-8`,
  content: readFileSync(new URL(`./pages/${name}`, import.meta.url), 'utf8'),
});
const json = (value: unknown): Page => ({
  type: 'application/json; charset=utf-8',
  content: JSON.stringify(value),
});

/** What the gateway shows besides the API: where the mailed link leads, and the API's description. */
export const registerPages = (app: FastifyInstance, { publicUrl }: Pick<Deps, 'publicUrl'>): void => {
  const pages: Record<string, Page> = {
    '/': json({
      name: 'Quittance',
      openapi: `${publicUrl}/openapi.json`,
      sign_in: `${publicUrl}/sign-in`,
      health: `${publicUrl}/v1/health`,
    }),
    '/openapi.json': json(openApiDocument({ serverUrl: publicUrl })),
    '/sign-in': file('sign-in.html', 'text/html'),
    '/sign-in.js': file('sign-in.js', 'text/javascript'),
    '/reveal': file('reveal.html', 'text/html'),
    '/reveal.js': file('reveal.js', 'text/javascript'),
    '/sign-in.css': file('sign-in.css', 'text/css'),
  };
  const window = createSlidingWindow();
  for (const [url, { type, content }] of Object.entries(pages)) {
    app.get(url, async (request, reply) => {
      const taken = window.take(addressGroup(request.ip), LIMIT.points, LIMIT.windowSeconds);
      admit(reply, [{ ...LIMIT, ...taken }]);
      return reply.type(type).headers(PAGE_HEADERS).send(content);
    });
  }
};
