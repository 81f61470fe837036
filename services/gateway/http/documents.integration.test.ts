import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import {
  type GatewayFixture,
  newServiceKey,
  newSigningKey,
  sendRaw,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';

/** HTTP as monitors, browsers, caches and crawlers use it, on the documents and on the API. */
let fixture: GatewayFixture;
let url = '';
let key = '';
beforeAll(async () => {
  fixture = await startGatewayFixture({
    publicKeys: [newSigningKey('test.session.1').entry],
    limits: { scale: 100 },
    env: { TRUSTED_HOPS: '1' },
  });
  ({ url } = fixture.gateway);
  key = fixture.services.addKey(createKeyText('vendor_test_'), newServiceKey());
  fixture.services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
});
afterAll(() => fixture.stop());

const PUBLIC = [
  '/.well-known/jwks.json',
  '/.well-known/jwks.json?environment=test&all=true',
  '/v1/environments',
  '/openapi.json',
  '/llms.txt',
  '/',
  '/docs/errors',
  '/docs/guides',
  '/docs/guides/limits',
  '/docs/guides/limits.md',
  '/docs',
  '/docs/search.json',
  '/llms-full.txt',
];
const OWN = ['/console', '/console/any/depth', '/receipt'];
const PAGE = 'https://any.example';

let calls = 0;
/** Each call comes from an address of its own, because pages are limited per address. */
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(url + path, {
    method,
    headers: { 'x-forwarded-for': `10.0.${(calls >> 8) & 255}.${calls++ & 255}`, ...headers },
  });
const shapeOf = ({ status, headers }: Response) =>
  [status, ...['content-type', 'content-length', 'etag', 'vary'].map((name) => headers.get(name))] as const;

test.each([...PUBLIC, ...OWN])('HEAD %s is GET without content', async (path) => {
  // One coding, so that the length is that of the text.
  const plain = { 'accept-encoding': 'identity' };
  const [head, whole] = [await get(path, plain, 'HEAD'), await get(path, plain)];
  expect(shapeOf(head)).toEqual(shapeOf(whole));
  expect([whole.status, await head.text()]).toEqual([200, '']);
  await whole.arrayBuffer();
});

test('HEAD of the API has the credential, the limits and the status of GET', async () => {
  for (const path of ['/v1/health', '/v1/health/ready']) {
    expect([path, (await get(path, {}, 'HEAD')).status]).toEqual([path, 200]);
  }
  expect((await get('/v1/quotes', {}, 'HEAD')).status).toBe(401);
  const listed = await get('/v1/quotes', { authorization: `Bearer ${key}` }, 'HEAD');
  expect([listed.status, listed.headers.get('content-length'), await listed.text()]).toEqual([200, '30', '']);
  expect(listed.headers.has('ratelimit')).toBe(true);
  const body = 'HEAD /v1/health HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx';
  expect(await sendRaw(fixture.gateway.port, body)).toMatch(/^HTTP\/1.1 400 /);
});

test.each(PUBLIC)('any page may read %s, without cookies', async (path) => {
  const preflight = await get(
    path,
    {
      origin: PAGE,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'x-request-id,if-none-match',
    },
    'OPTIONS',
  );
  expect([preflight.status, await preflight.text()]).toEqual([204, '']);
  expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD');
  expect(preflight.headers.get('access-control-allow-headers')).toMatch(/x-request-id.*if-none-match/);
  for (const { headers } of [preflight, await get(path, { origin: PAGE }), await get(path)]) {
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.has('access-control-allow-credentials')).toBe(false);
  }
});

test('a page reads the refusal of a public document too', async () => {
  const refused = await get('/.well-known/jwks.json?x=1', { origin: PAGE });
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([400, '*']);
});

test.each([...OWN, '/v1/quotes', '/v1/nothing'])('no other page may read %s', async (path) => {
  const preflight = await get(path, { origin: PAGE, 'access-control-request-method': 'GET' }, 'OPTIONS');
  expect([404, 405]).toContain(preflight.status);
  for (const { headers } of [preflight, await get(path, { origin: PAGE })])
    expect(headers.has('access-control-allow-origin')).toBe(false);
});

test.each([...PUBLIC, ...OWN])('%s is not sent again to who has it', async (path) => {
  const first = await get(path);
  const etag = first.headers.get('etag')!;
  expect(etag).toMatch(/^"[\w-]{43}"$/);
  await first.arrayBuffer();
  for (const method of ['GET', 'HEAD'])
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get(path, { 'if-none-match': sent }, method);
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
    }
  expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
});

test('each content coding of a document has its own tag, and may be stored', async () => {
  const tags = await Promise.all(
    ['identity', 'gzip'].map(async (coding) => {
      const { headers } = await get('/openapi.json', { 'accept-encoding': coding });
      expect([headers.get('vary'), headers.get('cache-control')]).toEqual(['accept-encoding', 'no-cache']);
      return headers.get('etag');
    }),
  );
  expect(new Set(tags).size).toBe(2);
});

test.each<[string, Record<string, string>, number, (text: Buffer) => Buffer, string | null]>([
  ['the beginning', { range: 'bytes=0-9' }, 206, (all) => all.subarray(0, 10), 'bytes 0-9/*'],
  ['the rest', { range: 'bytes=10-' }, 206, (all) => all.subarray(10), 'bytes 10-last/*'],
  ['the end', { range: 'bytes=-5' }, 206, (all) => all.subarray(-5), null],
  ['more than there is', { range: 'bytes=0-99999999' }, 206, (all) => all, 'bytes 0-last/*'],
  ['beyond the end', { range: 'bytes=99999999-' }, 416, (all) => all.subarray(0, 0), 'bytes */*'],
  ['nothing', { range: 'bytes=-0' }, 416, (all) => all.subarray(0, 0), 'bytes */*'],
  ['several ranges', { range: 'bytes=0-1,3-4' }, 200, (all) => all, null],
  ['another unit', { range: 'lines=0-1' }, 200, (all) => all, null],
  ['last before first', { range: 'bytes=5-2' }, 200, (all) => all, null],
  ['of another version', { range: 'bytes=0-9', 'if-range': '"other"' }, 200, (all) => all, null],
])('a range: %s', async (_name, headers, status, part, shown) => {
  const plain = { 'accept-encoding': 'identity' };
  const all = Buffer.from(await (await get('/llms.txt', plain)).arrayBuffer());
  const answer = await get('/llms.txt', { ...plain, ...headers });
  expect(answer.status).toBe(status);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(part(all));
  expect(answer.headers.get('accept-ranges')).toBe('bytes');
  if (shown !== null)
    expect(answer.headers.get('content-range')).toBe(
      shown.replace(/\/\*$/, `/${all.length}`).replace('last', String(all.length - 1)),
    );
});

test('a compressed body is 415 with or without its header, and the connection goes on', async () => {
  const packed = gzipSync('{"a":1}');
  for (const coding of [{ 'content-encoding': 'gzip' }, {}]) {
    const answer = await fetch(`${url}/v1/quote`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...coding },
      body: packed,
    });
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect([answer.status, error.code]).toEqual([415, 'unsupported_media_type']);
    expect(error.message).toMatch(/^the body is compressed; send it .*without Content-Encoding$/);
  }
  expect((await get('/v1/health')).status).toBe(200);
});
