import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Set for a document that is the same for every caller. `public`: any page may read it.
     * `own`: only pages of this origin.
     */
    document?: 'public' | 'own';
  }
}

type Range = { from: number; to: number };

/**
 * The one range of bytes that a request asks for (RFC 9110, 14.1.2). Null for no range, for several
 * ranges and for a form that is not understood: all of them are answered with the whole document.
 */
const rangeOf = (header: string | undefined, size: number): Range | 'unsatisfiable' | null => {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { from: size - length, to: size - 1 };
  }
  const from = Number(first);
  const to = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < from) return null;
  return from >= size ? 'unsatisfiable' : { from, to };
};

const etagOf = (bytes: Buffer): string => `"${createHash('sha256').update(bytes).digest('base64url')}"`;

/** Whether If-None-Match names the document: by weak comparison (RFC 9110, 13.1.2). */
const namesIt = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.trim() === '*' ||
  (ifNoneMatch ?? '').split(',').some((each) => each.trim().replace(/^W\//, '') === etag);

/** Answers the part of a document that a GET asks for. If-Range with another tag asks for all. */
const sendRange = ({ method, headers }: FastifyRequest, reply: FastifyReply, etag: string, bytes: Buffer) => {
  const ifRange = headers['if-range'];
  if (method !== 'GET' || (ifRange !== undefined && ifRange !== etag)) return bytes;
  const range = rangeOf(headers.range, bytes.length);
  if (range === null) return bytes;
  void reply.removeHeader('content-length');
  if (range === 'unsatisfiable') {
    void reply.code(416).header('content-range', `bytes */${bytes.length}`);
    return '';
  }
  void reply.code(206).header('content-range', `bytes ${range.from}-${range.to}/${bytes.length}`);
  return bytes.subarray(range.from, range.to + 1);
};

/**
 * Conditional requests and ranges for every document of the gateway. A copy may be stored, and is
 * compared with the gateway before each use, unless the document says otherwise.
 */
export const registerDocuments = (app: FastifyInstance): void => {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isDocument = request.routeOptions.config.document !== undefined;
    if (!isDocument || reply.statusCode !== 200) return done();
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return done();
    const bytes = Buffer.from(payload as string);
    const etag = etagOf(bytes);
    void reply.headers({ etag, 'accept-ranges': 'bytes' });
    if (reply.getHeader('cache-control') === 'no-store') void reply.header('cache-control', 'no-cache');
    if (!namesIt(request.headers['if-none-match'], etag))
      return done(null, sendRange(request, reply, etag, bytes));
    void reply.code(304).removeHeader('content-length').removeHeader('content-type');
    // Of HEAD, Fastify takes the length from the bytes and does not send them.
    return done(null, request.method === 'HEAD' ? bytes : null);
  });
};
