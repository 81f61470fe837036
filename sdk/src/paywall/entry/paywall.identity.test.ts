import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import fastify from 'fastify';
import {
  at,
  PUBLIC_URL,
  RESOURCE,
  reasonOf,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import * as forExpress from '../adapters/express.ts';
import * as forFastify from '../adapters/fastify.ts';

/** What of a request decides its answer, so that no other request gets the stored one. */
let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(() => api.stop());

const TEXT = '0123456789abcdefghij';
/** Serves parts of a text, and its languages, as a server of files does. */
const files = (request: Request): Response => {
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get('range') ?? '');
  if (request.headers.get('if-none-match') === '"1"') return new Response(null, { status: 304 });
  if (range === null) return new Response(TEXT, { headers: { etag: '"1"' } });
  const [from, to] = [Number(range[1]), Number(range[2])];
  if (from >= TEXT.length) return new Response('none', { status: 416 });
  return new Response(TEXT.slice(from, to + 1), {
    status: 206,
    headers: { 'content-range': `bytes ${from}-${to}/${TEXT.length}` },
  });
};

describe('the headers that decide an answer', () => {
  const sets: Record<string, string>[] = [
    {},
    { range: 'bytes=0-4' },
    { range: 'bytes=5-9' },
    { range: 'bytes=90-99' },
    { range: 'bytes=0-4', 'if-range': '"1"' },
    { 'if-none-match': '"1"' },
    { 'if-match': '"1"' },
    { 'if-modified-since': 'Sat, 28 Nov 2026 10:00:00 GMT' },
    { 'if-unmodified-since': 'Sat, 28 Nov 2026 10:00:00 GMT' },
  ];
  test.each(sets)(
    'after a request with %j no other one gets its answer, and a repeat does',
    async (first) => {
      const serve = api.paywall().protect({ price: '50000' }, files);
      const payment = api.pay({ resource: RESOURCE });
      const ask = (headers: Record<string, string>) => serve(at('/report', { ...payment, ...headers }));
      const answer = await ask(first);
      const text = await answer.text();
      for (const other of sets)
        if (other !== first) expect(await reasonOf(ask(other))).toBe('402 payment_failed spent');
      const again = await ask(first);
      expect([again.status, await again.text()]).toEqual([answer.status, text]);
      expect(again.headers.get('x-payment-replayed')).toBe('true');
    },
  );

  test('the type and the encoding of a body are part of the request, the boundary of a form is not', async () => {
    const serve = api
      .paywall()
      .protect({ price: '50000' }, async (request) => new Response(request.headers.get('content-type')));
    const payment = api.pay({ resource: RESOURCE });
    const post = (headers: Record<string, string>) =>
      serve(at('/report', { ...payment, ...headers }, { method: 'POST', body: 'a=1' }));
    const first = await post({ 'content-type': 'multipart/form-data; boundary=1' });
    expect(await first.text()).toContain('boundary=1');
    const others = [
      { 'content-type': 'text/plain' },
      { 'content-type': 'multipart/form-data; boundary=1', 'content-encoding': 'gzip' },
    ];
    for (const other of others) expect(await reasonOf(post(other))).toBe('402 payment_failed spent');
    const again = await post({ 'content-type': 'multipart/form-data; boundary=2' });
    expect(again.headers.get('x-payment-replayed')).toBe('true');
  });
});

test.each([
  ['accept-language', 'de', 'en'],
  ['accept', 'text/html', 'application/json'],
  ['x-tenant', '1', undefined],
])('an answer that varies by %s is none for a request with another one', async (name, first, second) => {
  const serve = api
    .paywall()
    .protect(
      { price: '50000' },
      (request) =>
        new Response(request.headers.get(name), { headers: { vary: `Origin, ${name.toUpperCase()}` } }),
    );
  const payment = api.pay({ resource: RESOURCE });
  const ask = (value: string | undefined) =>
    serve(
      at('/report', { ...payment, ...(value === undefined ? {} : { [name]: value }), 'user-agent': 'any' }),
    );
  expect(await (await ask(first)).text()).toBe(first);
  expect(await reasonOf(ask(second))).toBe('402 payment_failed spent');
  expect(await (await ask(first)).text()).toBe(first);
});

test('an answer that names no header, or *, is for every repeat', async () => {
  const answers = [new Response('1'), new Response('1', { headers: { vary: '*' } })];
  for (const answer of answers) {
    const serve = api.paywall().protect({ price: '50000' }, () => answer);
    const payment = api.pay({ resource: RESOURCE });
    await (await serve(at('/report', { ...payment, accept: 'a' }))).text();
    expect((await serve(at('/report', { ...payment, accept: 'b' }))).headers.get('x-payment-replayed')).toBe(
      'true',
    );
  }
});

/** A file as multer and express-fileupload describe it, and how they set it at the request. */
const FILES = {
  'multer, one file': (bytes: Buffer) => ({ file: { ...MULTER, size: bytes.length, buffer: bytes } }),
  'multer, any files': (bytes: Buffer) => ({ files: [{ ...MULTER, size: bytes.length, buffer: bytes }] }),
  'multer, fields': (bytes: Buffer) => ({
    files: { doc: [{ ...MULTER, size: bytes.length, buffer: bytes }] },
  }),
  'express-fileupload': (bytes: Buffer) => ({
    files: { doc: { name: 'a.txt', mimetype: 'text/plain', size: bytes.length, data: bytes } },
  }),
};
const MULTER = { fieldname: 'doc', originalname: 'a.txt', encoding: '7bit', mimetype: 'text/plain' };
const ON_DISK = {
  'multer, on disk': { file: { ...MULTER, size: 3, path: '/tmp/1' } },
  'express-fileupload, in a folder': {
    files: { doc: { name: 'a.txt', mimetype: 'text/plain', size: 3, data: Buffer.alloc(0) } },
  },
};

describe('uploads that a parser has taken out of the body', () => {
  /** A route behind a parser that sets what `parsed` returns. */
  const shop = async (parsed: (text: string) => object) => {
    const app = express();
    app.post(
      '/u',
      express.text({ type: () => true }),
      (request, _response, next) => {
        const text = request.body as string;
        request.body = { title: 'x' };
        Object.assign(request, parsed(text));
        next();
      },
      forExpress.paid(api.paywall(), { price: '50000' }),
      (_request, response) => void response.send('done'),
    );
    const server = app.listen(0);
    const payment = api.pay({ resource: `${PUBLIC_URL}/u` });
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/u`;
    const post = (body: string) => fetch(url, { method: 'POST', headers: payment, body });
    return { post, stop: () => server.close() };
  };

  test.each(Object.entries(FILES))(
    '%s: another file does not get the answer to the first',
    async (_name, set) => {
      const { post, stop } = await shop((text) => set(Buffer.from(text)));
      expect((await post('one')).status).toBe(200);
      expect(await reasonOf(post('two'))).toBe('402 payment_failed spent');
      expect((await post('one')).headers.get('x-payment-replayed')).toBe('true');
      stop();
    },
  );

  test.each(Object.entries(ON_DISK))(
    '%s: is refused, and the log says what to change',
    async (_name, set) => {
      const { post, stop } = await shop(() => set);
      expect(await reasonOf(post('one'))).toBe('503 service_unavailable vendor_configuration');
      expect(api.log.at(-1)?.message).toContain('an uploaded file is not in memory');
      expect(api.calls()).toEqual([]);
      stop();
    },
  );
});

describe('bodies that a handler of Fastify reads itself', () => {
  test.each([
    [
      'a parser that reads nothing',
      (_request: unknown, _payload: unknown, done: (e: null) => void) => done(null),
    ],
    [
      'a parser that passes the stream on',
      (_request: unknown, payload: unknown, done: (e: null, body: unknown) => void) => done(null, payload),
    ],
    [
      'fields with files',
      (_request: unknown, payload: NodeJS.ReadableStream, done: (e: null, body: unknown) => void) => {
        payload.resume();
        done(null, { doc: { type: 'file', toBuffer: async () => Buffer.from('x') } });
      },
    ],
  ])('%s: the route is refused, and the log says what to change', async (_name, parser) => {
    const app = fastify();
    app.addContentTypeParser('multipart/form-data', parser as never);
    const preHandler = forFastify.paid(api.paywall(), { price: '50000' });
    app.post('/u', { preHandler }, async () => 'done');
    const base = await app.listen({ host: '127.0.0.1', port: 0 });
    const payment = api.pay({ resource: `${PUBLIC_URL}/u` });
    const body = new FormData();
    body.set('doc', new Blob(['one']), 'a.txt');
    const post = fetch(`${base}/u`, { method: 'POST', headers: payment, body });
    expect(await reasonOf(post)).toBe('503 service_unavailable vendor_configuration');
    expect(api.log.at(-1)?.message).toContain('the body is read after the paywall');
    await app.close();
  });
});
