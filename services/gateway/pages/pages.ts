import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../../../shared/contract/errors.ts';
import { llmsText } from '../../../shared/contract/llms.ts';
import { openApiDocument } from '../../../shared/contract/openapi.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { LOCAL_API } from '../../../shared/lib/local-api.ts';
import { createInMemoryWindow } from '../limits/in-memory-window.ts';
import { admit } from '../limits/quota.ts';
import { addressGroup } from '../requests/address.ts';
import { acceptsCoding } from './content-coding.ts';
import { type SecurityContacts, securityText } from './security-text.ts';
import { acceptsHtml, PAGE_HEADERS, registerSite, type Site, sendHome } from './site.ts';

const LIMIT = { points: 120, windowSeconds: 60, per: 'ip' } as const;

/**
 * A page may run its own scripts and call this origin, nothing else. No page may frame it or learn
 * its address.
 */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/**
 * Scalar writes its style into the page at run time. Its script is a file, and it calls no other
 * origin. It makes markup by two policies for Trusted Types (reference.ts). The page has an origin
 * of its own (`sandbox`): a fault in 4 MB of another project's script cannot call the API with the
 * cookie of a reader who has signed in to the console.
 */
const REFERENCE_HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
    'trusted-types vue default; ' +
    'sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads',
  // By the HTML standard no page may have both a sandbox and another policy for its opener.
  'cross-origin-opener-policy': 'unsafe-none',
};

const STYLE_HEADERS = { ...PAGE_HEADERS, 'cache-control': 'public, max-age=3600' };

const SCRIPT_HEADERS = {
  ...PAGE_HEADERS,
  'cache-control': 'public, max-age=3600',
  vary: 'accept-encoding',
};

const HTML = 'text/html; charset=utf-8';
const unpack = promisify(gunzip);
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
};

/** Whether a caller is a browser that shows a page. Other clients accept any type, or JSON. */
const acceptsHtml = ({ headers }: FastifyRequest): boolean => /\btext\/html\b/.test(headers.accept ?? '');

/** The document has half a megabyte, and a tenth of it gzipped. */
const openApiPage = (publicUrl: string): Page => {
  const page = json(() => openApiDocument({ serverUrl: publicUrl }));
  return { ...page, gzipped: once(() => gzipSync(page.content())) };
};

/** The parts of the reference page are for its own origin. All else may be read by any page. */
const documentOf = ({ headers = PAGE_HEADERS }: Page): 'public' | 'own' =>
  headers === PAGE_HEADERS ? 'public' : 'own';

/** A guide whose commands call this gateway. In the repository they name that of `npm start`. */
const withOrigin = (guide: string, publicUrl: string): string => guide.replaceAll(LOCAL_API, publicUrl);

const createPages = ({ publicUrl, docsHtml, pageCss, guides }: PageDeps): Record<string, Page> => ({
  '/openapi.json': openApiPage(publicUrl),
  '/docs': { type: HTML, content: () => docsHtml, headers: REFERENCE_HEADERS },
  '/docs/errors': { type: HTML, content: once(() => errorsHtml({ serverUrl: publicUrl })) },
  '/docs/guides': { type: HTML, content: once(guidesHtml) },
  ...Object.fromEntries(
    GUIDES.map((guide) => [
      `/docs/guides/${guide.name}`,
      { type: HTML, content: once(() => guideHtml(guide, withOrigin(guides.get(guide.name)!, publicUrl))) },
    ]),
  ),
  '/page.css': { type: 'text/css; charset=utf-8', content: () => pageCss, headers: STYLE_HEADERS },
  '/llms.txt': {
    type: 'text/plain; charset=utf-8',
    content: once(() => llmsText({ serverUrl: publicUrl })),
  },
});

/** The two forms of /: links for programs, and a page for browsers. */
const createHome = (publicUrl: string): { program: Page; browser: Page } => ({
  program: json(() => ({
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
  const { publicUrl, site } = deps;
  const window = createInMemoryWindow();
  const count = (request: FastifyRequest, reply: FastifyReply) => {
    const state = window.consume(addressGroup(request.origin.address), LIMIT.points, LIMIT.windowSeconds);
    admit(reply, [{ ...LIMIT, ...state }]);
  };
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

  registerSite(app, site);
};
