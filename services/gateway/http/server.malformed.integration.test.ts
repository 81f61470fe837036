import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import {
  type Gateway,
  type GatewayFixture,
  newServiceKey,
  type Services,
  sendRaw,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';

/**
 * Bytes that two parsers may read as different requests (RFC 9112, section 11.2). A proxy before
 * this gateway may have read the other request, so the bytes are refused and the connection ends.
 */

let fixture: GatewayFixture;
let services: Services;
let gateway: Gateway;
let key = '';

beforeAll(async () => {
  fixture = await startGatewayFixture({ publicKeys: [], limits: { scale: 1000 }, environments: ['test'] });
  ({ services, gateway } = fixture);
  key = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
  services.answers['settlement.verify'] = () => ({
    settlement_id: newId('stl'),
    status: 'issued',
    tx_hash: null,
    quote_amount: '1',
  });
});

afterAll(() => fixture.stop());

beforeEach(() => {
  services.calls.length = 0;
});

/** The placeholder of the key, which does not exist yet when the tables are defined. */
const KEY = '<key>';
const END = 'connection: close\r\n\r\n';
const get = (path: string, headers = '', { host = 'host: x\r\n' } = {}) =>
  `GET ${path} HTTP/1.1\r\n${host}authorization: Bearer ${KEY}\r\n${headers}${END}`;
const post = (headers: string, body: string) =>
  `POST /v1/settlements/${newId('stl')}/verify HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n${headers}${END}${body}`;
const statuses = async (bytes: string) =>
  [...(await sendRaw(gateway.port, bytes.replace(KEY, key))).matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(
    ([, status]) => Number(status),
  );
const JSON_TYPE = 'content-type: application/json\r\n';

test('the requests themselves are valid, so the cases below are refused for what they add', async () => {
  expect(await statuses(get('/v1/quotes'))).toEqual([200]);
  await statuses(post(`${JSON_TYPE}content-length: 2\r\n`, '{}'));
  await statuses(post(`${JSON_TYPE}transfer-encoding: chunked\r\n`, '2\r\n{}\r\n0\r\n\r\n'));
  expect(services.calls.map(({ operation }) => operation)).toEqual([
    'quote.list',
    'settlement.verify',
    'settlement.verify',
  ]);
});

const smuggled = `GET /v1/quotes HTTP/1.1\r\nhost: x\r\n\r\n`;
const chunked = 'transfer-encoding: chunked\r\n';
/** A body whose type is refused is not read, so its chunks may be answered with 415. */
const chunkedJson = `${JSON_TYPE}${chunked}`;

test.each<[string, string]>([
  ['length and chunks', post(`content-length: 2\r\n${chunked}`, '0\r\n\r\n')],
  ['chunks and length', post(`${chunked}content-length: 2\r\n`, '0\r\n\r\n')],
  ['two lengths', post('content-length: 2\r\ncontent-length: 3\r\n', '{}')],
  ['the same length twice', post('content-length: 2\r\ncontent-length: 2\r\n', '{}')],
  ['a list of lengths', post('content-length: 2, 2\r\n', '{}')],
  ['a length with a sign', post('content-length: +2\r\n', '{}')],
  ['a negative length', post('content-length: -1\r\n', '')],
  ['a length in hex', post('content-length: 0x2\r\n', '{}')],
  ['a length beyond 64 bits', post('content-length: 99999999999999999999\r\n', '{}')],
  ['a space before the colon', post('content-length : 2\r\n', '{}')],
  ['chunks not last', post('transfer-encoding: chunked, identity\r\n', '0\r\n\r\n')],
  ['chunks twice', post(`${chunked}${chunked}`, '0\r\n\r\n')],
  ['an encoding that looks like chunks', post('transfer-encoding: xchunked\r\n', '0\r\n\r\n')],
  ['chunks after a vertical tab', post('transfer-encoding: \x0bchunked\r\n', '0\r\n\r\n')],
  ['a chunk size that is no number', post(chunkedJson, 'zz\r\n{}\r\n0\r\n\r\n')],
  ['a chunk size with a sign', post(chunkedJson, '+2\r\n{}\r\n0\r\n\r\n')],
  ['a chunk longer than its size', post(chunkedJson, '1\r\n{}\r\n0\r\n\r\n')],
  ['chunks whose lines end in LF alone', post(chunkedJson, '2\n{}\n0\n\n')],
  ['a folded header', get('/v1/quotes', 'x-a: b\r\n c\r\n')],
  ['a folded transfer-encoding', post('transfer-encoding:\r\n chunked\r\n', '0\r\n\r\n')],
  ['lines that end in LF alone', get('/v1/quotes').replaceAll('\r\n', '\n')],
  ['one header line that ends in LF alone', get('/v1/quotes', 'x-a: b\n')],
  ['CR alone', get('/v1/quotes', 'x-a: b\rx-b: c\r\n')],
  ['NUL in a header', get('/v1/quotes', 'x-a: b\0c\r\n')],
  ['a line without a colon', get('/v1/quotes', 'x-a\r\n')],
  ['a space in a header name', get('/v1/quotes', 'x a: b\r\n')],
  ['a space before the first header', `GET /v1/quotes HTTP/1.1\r\n host: x\r\n${END}`],
  ['HTTP/0.9', 'GET /v1/quotes\r\n\r\n'],
  ['HTTP/1.2', get('/v1/quotes').replace('HTTP/1.1', 'HTTP/1.2')],
  ['a space in the path', get('/v1/quotes x')],
  ['two Host headers', get('/v1/quotes', 'host: y\r\n')],
  ['the same Host twice', get('/v1/quotes', 'Host: x\r\n')],
  ['two Authorization headers', get('/v1/quotes', 'Authorization: Bearer x\r\n')],
  ['two content types', post(`${JSON_TYPE}content-type: text/plain\r\ncontent-length: 2\r\n`, '{}')],
  [
    'a GET that carries another request',
    get('/v1/quotes', `content-length: ${smuggled.length}\r\n`) + smuggled,
  ],
])('refused with 400: %s', async (_name, bytes) => {
  expect(await statuses(bytes)).toEqual([400]);
  expect(services.calls).toEqual([]);
});

test.each([
  '//v1/quotes',
  '/v1//quotes',
  '/v1/quotes/',
  '/v1/./quotes',
  '/v1/x/../quotes',
  '/v1/quotes/.',
  '/v1/quotes/..',
  '/v1/quotes/%2e%2e',
  '/v1/quotes/%2e%2e%2fquotes',
  '/v1/quotes%2f',
  '/v1%2fquotes',
  '/v1/%2fquotes',
  '/v1%5cquotes',
  '/v1\\quotes',
  '/v1/quotes;a=b',
  '/v1/quotes%00',
  '/v1/quotes%3flimit=5',
  '/v1/quotes/%252e%252e',
  'v1/quotes',
  '*',
  'http://x/v1/quotes',
  'http://other/v1/quotes',
])('%s is refused and never read as another path', async (path) => {
  const found = await statuses(get(path));
  expect(found).toHaveLength(1);
  expect([400, 404]).toContain(found[0]);
  expect(services.calls).toEqual([]);
});
