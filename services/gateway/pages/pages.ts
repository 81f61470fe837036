import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../../../shared/contract/errors.ts';
import { llmsText } from '../../../shared/contract/llms.ts';
import { openApiDocument } from '../../../shared/contract/openapi.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Limits } from '../limits/limits.ts';
import { createPageLimit } from './assets.ts';
import { acceptsCoding } from './content-coding.ts';
import { type SecurityContacts, securityText } from './security-text.ts';
import { acceptsHtml, PAGE_HEADERS, registerSite, type Site, sendHome } from './site.ts';

const PAGES_A_MINUTE = 120;
const PUBLIC = { config: { document: 'public' } } as const;
const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

const once = <T>(create: () => T): (() => T) => {
  let created: { value: T } | undefined;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
};

export type PageDeps = {
  publicUrl: string;
  site: Site;
  /** Where vulnerabilities are reported. Without contacts there is no security.txt. */
  security: SecurityContacts;
  clock: Clock;
  limits: Pick<Limits, 'scaled'>;
};

/** `/` for programs: where everything is. */
const homeOfPrograms = (publicUrl: string): string =>
  JSON.stringify({
    name: 'Quittance',
    openapi: `${publicUrl}/openapi.json`,
    docs: `${publicUrl}/docs`,
    guides: `${publicUrl}/docs/guides`,
    errors: `${publicUrl}/docs/errors`,
    llms: `${publicUrl}/llms.txt`,
    console: `${publicUrl}/console`,
    health: `${publicUrl}/v1/health`,
  });

/** Serves the documentation, and the description of the API in forms for programs. */
export const registerPages = (app: FastifyInstance, deps: PageDeps): void => {
  const { publicUrl, site, limits } = deps;
  const count = createPageLimit(limits, PAGES_A_MINUTE);
  const get = (at: string, answer: (request: FastifyRequest, reply: FastifyReply) => unknown): void => {
    app.get(at, PUBLIC, async (request, reply) => {
      count(request, reply);
      return answer(request, reply.headers(PAGE_HEADERS));
    });
  };

  get('/', (request, reply) =>
    acceptsHtml(request)
      ? sendHome(site, request, reply)
      : reply.type(JSON_TYPE).header('vary', 'accept, accept-encoding').send(homeOfPrograms(publicUrl)),
  );

  // The document has half a megabyte, and a tenth of it gzipped.
  const openApi = once(() => JSON.stringify(openApiDocument({ serverUrl: publicUrl })));
  const gzippedOpenApi = once(() => gzipSync(openApi()));
  get('/openapi.json', (request, reply) => {
    void reply.type(JSON_TYPE).header('vary', 'accept-encoding');
    if (!acceptsCoding('gzip', request.headers['accept-encoding'])) return reply.send(openApi());
    return reply.header('content-encoding', 'gzip').send(gzippedOpenApi());
  });

  const llms = once(() => llmsText({ serverUrl: publicUrl }));
  get('/llms.txt', (_request, reply) => reply.type(TEXT_TYPE).send(llms()));

  get('/.well-known/security.txt', (_request, reply) => {
    const text = securityText(deps.security, { publicUrl, now: deps.clock() });
    if (text === null) throw notFound('security.txt: the operator has named no contact (SECURITY_CONTACTS)');
    return reply.type(TEXT_TYPE).send(text);
  });

  registerSite(app, site, limits);
};
