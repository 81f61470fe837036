import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressGroup } from '../../../shared/lib/chain/address.ts';
import { createInMemoryWindow } from '../limits/in-memory-window.ts';
import type { Limits } from '../limits/limits.ts';
import { admit } from '../limits/quota.ts';
import { acceptsCoding } from './content-coding.ts';

/** The types of the files that a build may contain. Others are not served. */
export const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

export type Asset = { type: string; plain: Buffer; br: Buffer; gzip: Buffer };

/** What a build has compressed. A file under such a folder has its hash in its name. */
export const IMMUTABLE = { 'cache-control': 'public, max-age=31536000, immutable' } as const;

/**
 * Loads all files of a folder into memory, by their path in it. They have some hundred kB, and so
 * the path of a request never reaches the file system.
 */
export const loadAssets = (folder: string): Map<string, Asset> => {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const read = (name: string) => readFileSync(path.join(folder, name));
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[path.extname(name)];
      if (type === undefined) return [];
      return [[name, { type, plain: read(name), br: read(`${name}.br`), gzip: read(`${name}.gz`) }]];
    }),
  );
};

/** Sends a file in the best coding that the client accepts. */
export const sendAsset = (
  request: FastifyRequest,
  reply: FastifyReply,
  { type, plain, br, gzip }: Asset,
  vary = 'accept-encoding',
): FastifyReply => {
  const accepted = request.headers['accept-encoding'];
  void reply.type(type).header('vary', vary);
  if (acceptsCoding('br', accepted)) return reply.header('content-encoding', 'br').send(br);
  if (acceptsCoding('gzip', accepted)) return reply.header('content-encoding', 'gzip').send(gzip);
  return reply.send(plain);
};

/** One load of a page requests about twenty files, most of them once per release. */
export const FILES_A_MINUTE = 1200;

/** Counts the loads of an address, at most so many in a minute. */
export const createPageLimit = (
  { scaled }: Pick<Limits, 'scaled'>,
  points: number,
): ((request: FastifyRequest, reply: FastifyReply) => void) => {
  const window = createInMemoryWindow();
  return (request, reply) => {
    const limit = { points: scaled(points), windowSeconds: 60, per: 'ip' } as const;
    const state = window.consume(addressGroup(request.origin.address), limit.points, limit.windowSeconds);
    admit(reply, [{ ...limit, ...state }]);
  };
};
