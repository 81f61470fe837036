import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound, ServiceError } from '../../shared/contract/errors.ts';
import { takes } from './accepted.ts';
import { addressGroup } from './address.ts';
import { admit } from './quota.ts';
import { createSlidingWindow } from './sliding-window.ts';

/** The console as `console/build.ts` left it. A gateway runs without one, for instance from sources alone. */
const DIST = fileURLToPath(new URL('../../console/dist/', import.meta.url));

/** One load of a page asks for some ten files, most of them once per release. */
const LIMIT = { points: 1200, windowSeconds: 60, per: 'ip' } as const;

/**
 * Its own files, this origin's API, and nothing else: no inline script or style, no frame in either direction, no form that
 * goes anywhere, no string that becomes a script. The one policy that may make a script's address is for its worker.
 */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'; trusted-types quittance-worker",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  vary: 'accept-encoding',
};

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

type Asset = { type: string; plain: Buffer; br: Buffer; gzip: Buffer };

/** All of it in memory, by its path below /console/: some hundred kB, and no path of a caller ever reaches a disk. */
const load = (): Map<string, Asset> => {
  if (!existsSync(path.join(DIST, 'index.html'))) return new Map();
  const names = readdirSync(DIST, { recursive: true, encoding: 'utf8' });
  const read = (name: string) => readFileSync(path.join(DIST, name));
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[path.extname(name)];
      if (type === undefined) return [];
      return [[name, { type, plain: read(name), br: read(`${name}.br`), gzip: read(`${name}.gz`) }]];
    }),
  );
};

const sendAsset = (request: FastifyRequest, reply: FastifyReply, { type, plain, br, gzip }: Asset) => {
  const accepted = request.headers['accept-encoding'];
  void reply.type(type).headers(HEADERS);
  if (takes('br', accepted)) return reply.header('content-encoding', 'br').send(br);
  if (takes('gzip', accepted)) return reply.header('content-encoding', 'gzip').send(gzip);
  return reply.send(plain);
};

/**
 * GET /console and everything below: the built files, and for any other path the one page, whose script shows what the
 * path says. What is under /assets/ carries its hash in its name and is never another.
 */
export const registerConsole = (app: FastifyInstance): void => {
  const assets = load();
  const index = assets.get('index.html');
  const window = createSlidingWindow();
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const taken = window.take(addressGroup(request.origin.address), LIMIT.points, LIMIT.windowSeconds);
    admit(reply, [{ ...LIMIT, ...taken }]);
    if (index === undefined)
      throw new ServiceError('not_found', 'this gateway was started without a console');
    const name = (request.params as { '*'?: string })['*'] ?? '';
    if (!name.startsWith('assets/')) {
      void reply.header('cache-control', 'no-cache');
      return sendAsset(request, reply, index);
    }
    const asset = assets.get(name);
    if (asset === undefined) throw notFound('file of the console');
    void reply.header('cache-control', 'public, max-age=31536000, immutable');
    return sendAsset(request, reply, asset);
  };
  app.get('/console', serve);
  app.get('/console/*', serve);
};
