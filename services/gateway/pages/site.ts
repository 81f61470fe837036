import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound, ServiceError } from '../../../shared/contract/errors.ts';
import { LOCAL_API } from '../../../shared/lib/local-api.ts';
import type { Limits } from '../limits/limits.ts';
import {
  type Asset,
  createPageLimit,
  FILES_A_MINUTE,
  IMMUTABLE,
  loadAssets,
  sendAsset,
  TYPES,
} from './assets.ts';

/**
 * A page of the documentation may load its own files and nothing else: no inline script or style,
 * no string that becomes markup or a script. No page may frame it or learn its address.
 */
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'; trusted-types 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

const DOCUMENT_TYPES: Record<string, string> = {
  ...TYPES,
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
};

/** The folder of the files with their hash in their names. They name no origin. */
const ASSETS = 'docs/assets';
const INDEX = /(^|\/)index\.html$/;

/** A document of the site, with the origin of this gateway in it. */
type Document = () => Promise<Asset>;

const compressed = async (type: string, plain: Buffer): Promise<Asset> => {
  // The best level takes ten times as long, and saves a tenth.
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(plain, quality),
    promisify(gzip)(plain),
  ]);
  return { type, plain, br, gzip: gzipped };
};

/**
 * Reads a document at its first request, because most gateways get few. Its addresses become those
 * of this gateway: the build does not know them.
 */
const documentOf = (file: string, type: string, publicUrl: string): Document => {
  let made: Promise<Asset> | undefined;
  return () => {
    made ??= compressed(type, Buffer.from(readFileSync(file, 'utf8').replaceAll(LOCAL_API, publicUrl)));
    return made;
  };
};

/** What `docs/site/build.ts` has made. */
export type Site = {
  /** By path. The start page is at `/`, the page for an unknown path at `/404.html`. */
  documents: ReadonlyMap<string, Document>;
  assets: ReadonlyMap<string, Asset>;
};

/** @param siteFolder may be missing: a gateway also runs without the documentation */
export const loadSite = ({ siteFolder, publicUrl }: { siteFolder: string; publicUrl: string }): Site => {
  const names = existsSync(siteFolder) ? readdirSync(siteFolder, { recursive: true, encoding: 'utf8' }) : [];
  const documents = names.flatMap((name): [string, Document][] => {
    const type = DOCUMENT_TYPES[path.extname(name)];
    if (type === undefined || name.startsWith(`${ASSETS}/`)) return [];
    return [[`/${name.replace(INDEX, '')}`, documentOf(path.join(siteFolder, name), type, publicUrl)]];
  });
  return { documents: new Map(documents), assets: loadAssets(path.join(siteFolder, ASSETS)) };
};

/** Whether a caller is a browser that shows a page. Other clients accept any type, or JSON. */
export const acceptsHtml = ({ headers }: FastifyRequest): boolean =>
  /\btext\/html\b/.test(headers.accept ?? '');

/** @param vary the headers of a request on which the answer depends */
const send = async (request: FastifyRequest, reply: FastifyReply, document: Document, vary?: string) => {
  const asset = await document();
  return sendAsset(request, reply.headers(PAGE_HEADERS), asset, vary);
};

/** Sends the start page of a browser. @throws ServiceError if there is no documentation */
export const sendHome = (site: Site, request: FastifyRequest, reply: FastifyReply) => {
  const home = site.documents.get('/');
  if (home !== undefined) return send(request, reply, home, 'accept, accept-encoding');
  throw new ServiceError(
    'not_found',
    'this gateway has no documentation; build it with npm start before the gateway starts',
  );
};

/**
 * Answers a browser that asks for a path that does not exist: with the path without its last slash,
 * or with a page that has the navigation and the search.
 * @returns undefined for other clients and for the API, whose errors are JSON
 */
export const answerUnknown = (site: Site, request: FastifyRequest, reply: FastifyReply) => {
  const page = site.documents.get('/404.html');
  const [at] = request.url.split('?', 1) as [string];
  if (page === undefined || request.method !== 'GET' || at.startsWith('/v1/') || !acceptsHtml(request))
    return undefined;
  const without = at.replace(/\/$/, '');
  if (without !== at && site.documents.has(without)) return reply.redirect(without, 308);
  return send(request, reply.code(404), page);
};

/** Serves every document and file of the documentation but the start page. */
export const registerSite = (app: FastifyInstance, site: Site, limits: Pick<Limits, 'scaled'>): void => {
  const count = createPageLimit(limits, FILES_A_MINUTE);
  for (const [at, document] of site.documents) {
    if (at === '/' || at === '/404.html') continue;
    app.get(at, { config: { document: 'public' } }, async (request, reply) => {
      count(request, reply);
      return send(request, reply, document);
    });
  }
  app.get(`/${ASSETS}/*`, { config: { document: 'own' } }, async (request, reply) => {
    count(request, reply);
    const asset = site.assets.get((request.params as { '*': string })['*']);
    if (asset === undefined) throw notFound('file of the documentation');
    return sendAsset(request, reply.headers({ ...PAGE_HEADERS, ...IMMUTABLE }), asset);
  });
};
