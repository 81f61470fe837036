import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import {
  type Gateway,
  type GatewayFixture,
  newDelegateKey,
  newServiceKey,
  type Services,
  sendRaw,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';

let fixture: GatewayFixture;
let services: Services;
let gateway: Gateway;
let key = '';
let payer = '';

beforeAll(async () => {
  fixture = await startGatewayFixture({ publicKeys: [], limits: { scale: 1000 }, environments: ['test'] });
  ({ services, gateway } = fixture);
  key = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  payer = services.addKey(createKeyText('dk_test_'), newDelegateKey());
  services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
  services.answers['quote.create'] = () => quote;
});

afterAll(() => fixture.stop());

beforeEach(() => {
  services.calls.length = 0;
});

const quote = {
  quote_id: newId('q'),
  quote_token: 'a.b',
  quote_amount: '2500000',
  fee_amount: '12500',
  currency: 'USDC',
  expires_at: '2026-11-21T10:00:00.000Z',
  status: 'pending',
};
const order = { service_id: '0190a5b0-0000-7000-8000-000000000001', quote_amount: '2500000' };

type Sent = {
  status: number;
  code: string | undefined;
  message: string | undefined;
  details: { path: string }[] | undefined;
  allow: string | null;
};

const send = async (
  method: string,
  path: string,
  body?: string | Buffer,
  { type = 'application/json', credential = key }: { type?: string | null; credential?: string } = {},
): Promise<Sent> => {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      authorization: `Bearer ${credential}`,
      ...(type === null || body === undefined ? {} : { 'content-type': type }),
    },
    // Bytes, because fetch adds a content type to text.
    ...(body === undefined ? {} : { body: Buffer.from(body as string) }),
  });
  expect(response.headers.get('x-request-id')).not.toBeNull();
  expect(response.headers.get('cache-control')).toBe('no-store');
  const text = await response.text();
  const parsed = JSON.parse(text) as {
    error?: {
      code: string;
      message: string;
      details?: { path: string }[];
      request_id: string;
      docs_url: string;
    };
  };
  if (!response.ok) {
    expect(Object.keys(parsed)).toEqual(['error']);
    const { code, request_id, docs_url } = parsed.error!;
    expect({ request_id, docs_url }).toEqual({
      request_id: response.headers.get('x-request-id'),
      docs_url: `${gateway.url}/docs/errors#${code}`,
    });
    expect(text).not.toMatch(/FST_|fastify|at .*\.ts|node_modules/i);
  }
  const { code, message, details } = parsed.error ?? {};
  return { status: response.status, code, message, details, allow: response.headers.get('allow') };
};
const post = (value: unknown) => send('POST', '/v1/quote', JSON.stringify(value));
const refused = { status: 400, code: 'validation_error' };

test('the order itself is valid, so the cases below are refused for what they add', async () => {
  expect(await post(order)).toMatchObject({ status: 201 });
  expect(services.calls[0]?.input).toEqual(order);
});

test.each([
  'account_id',
  'vendor_id',
  'fee_amount',
  'status',
  'redeemed_at',
  'caller',
  'principal',
  'quote_id',
  'constructor',
  'toString',
])('mass assignment: %s in the body', async (field) => {
  expect(await post({ ...order, [field]: 'x' })).toMatchObject({ ...refused, details: [{ path: field }] });
  expect(services.calls).toEqual([]);
});

test.each([
  'account_id=acct_1',
  'status=paid',
  'limit=5&limit=6',
  'limit=0',
  'limit=101',
  'limit=05',
  'limit=+5',
  'limit[]=5',
  'limit=5&__proto__=x',
  'constructor=x',
  'cursor=a&cursor=b',
])('query ?%s', async (query) => {
  expect(await send('GET', `/v1/quotes?${query}`)).toMatchObject(refused);
  expect(services.calls).toEqual([]);
});

test('a field in the wrong part of a request is unknown there', async () => {
  const { service_id, ...rest } = order;
  expect(await send('POST', `/v1/quote?service_id=${service_id}`, JSON.stringify(rest))).toMatchObject(
    refused,
  );
  const settlement_id = newId('stl');
  const body = JSON.stringify({ settlement_token: 'a.b', settlement_id });
  expect(await send('POST', `/v1/settlements/${settlement_id}/redeem`, body)).toMatchObject(refused);
  expect(services.calls).toEqual([]);
});

test.each<[string, unknown]>([
  ['minus', '-1'],
  ['zero', '0'],
  ['fraction', '1.5'],
  ['exponent', '1e3'],
  ['hex', '0x10'],
  ['space', ' 1'],
  ['leading zero', '01'],
  ['plus', '+1'],
  ['empty', ''],
  ['full-width digits', '１０００'],
  ['a number', 1000],
  ['a list', ['1000']],
  ['an object', { amount: '1000' }],
  ['null', null],
  ['true', true],
  ['2^63', '9223372036854775808'],
  ['20 letters, which no BigInt takes', 'a'.repeat(20)],
  ['line end', '1\n'],
  ['NUL', '1\0'],
])('amount: %s', async (_name, quote_amount) => {
  const reply = await post({ ...order, quote_amount });
  expect(reply).toMatchObject(refused);
  expect(new Set(reply.details?.map(({ path }) => path))).toEqual(new Set(['quote_amount']));
  expect(services.calls).toEqual([]);
});

test('the largest amount passes', async () => {
  expect(await post({ ...order, quote_amount: '9223372036854775807' })).toMatchObject({ status: 201 });
});

test.each<[string, unknown]>([
  ['text', '600'],
  ['fraction', 1.5],
  ['zero', 0],
  ['too long', 86401],
  ['beyond the safe integers', 1e300],
])('whole number: %s', async (_name, expires_in_seconds) => {
  expect(await post({ ...order, expires_in_seconds })).toMatchObject(refused);
});

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test.each<[string, string | Buffer, number]>([
  ['not JSON', '{', 400],
  ['empty text as JSON object', '""', 400],
  ['null', 'null', 400],
  ['list', '[]', 400],
  ['number', '1', 400],
  ['two documents', '{}{}', 400],
  ['NaN', '{"quote_amount":NaN}', 400],
  ['a field twice', `{"service_id":"${order.service_id}","quote_amount":"1","quote_amount":"2"}`, 400],
  ['a field twice in free metadata', `{"service_id":"${order.service_id}","scope":{"a":1,"a":2}}`, 400],
  ['not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 400],
  ['__proto__', `{"__proto__":{"admin":true},"service_id":"${order.service_id}"}`, 400],
  [
    '__proto__ deep in free metadata',
    `{"service_id":"${order.service_id}","scope":{"a":[{"__proto__":1}]}}`,
    400,
  ],
  [
    'an integer that would be signed as another',
    `{"service_id":"${order.service_id}","scope":{"order":12345678901234567890}}`,
    400,
  ],
  [
    'constructor.prototype',
    `{"service_id":"${order.service_id}","scope":{"constructor":{"prototype":{}}}}`,
    400,
  ],
  ['lone surrogate in free metadata', `{"service_id":"${order.service_id}","scope":{"a":"\\ud800"}}`, 400],
  ['lone surrogate as a name', `{"service_id":"${order.service_id}","scope":{"\\udc00":1}}`, 400],
  ['nested 31 levels', `{"service_id":"${order.service_id}","scope":${deep(31)}}`, 201],
  ['nested 33 levels', `{"service_id":"${order.service_id}","scope":${deep(33)}}`, 400],
  ['nested 10,000 levels', `{"service_id":"${order.service_id}","scope":${deep(10_000)}}`, 400],
  ['nothing where fields are required', '', 400],
  ['65 kB', `{"service_id":"${'a'.repeat(65 * 1024)}"}`, 413],
  ['1 MB', `{"service_id":"${'a'.repeat(1024 * 1024)}"}`, 413],
  // More than the network buffers: the sender must finish sending, or it never reads the answer.
  ['16 MB', `{"service_id":"${'a'.repeat(16 * 1024 * 1024)}"}`, 413],
])('body: %s', async (_name, body, status) => {
  const code = { 201: undefined, 400: 'validation_error', 413: 'payload_too_large' }[status];
  expect(await send('POST', '/v1/quote', body)).toMatchObject({ status, code });
  expect(services.calls).toHaveLength(status === 201 ? 1 : 0);
});

test.each<[string | null, number]>([
  ['application/json', 201],
  ['application/json; charset=utf-8', 201],
  ['APPLICATION/JSON', 201],
  ['text/plain', 415],
  ['application/x-www-form-urlencoded', 415],
  ['application/jsonp', 415],
  ['text/plain; application/json', 415],
  ['nonsense', 415],
  [null, 415],
])('content type %s', async (type, status) => {
  const reply = await send('POST', '/v1/quote', JSON.stringify(order), { type });
  expect(reply).toMatchObject({ status, code: status === 415 ? 'unsupported_media_type' : undefined });
});

test('a GET with a body is refused, and a POST without a body passes where the body is optional', async () => {
  const get = `GET /v1/quotes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n`;
  expect(await sendRaw(gateway.port, `${get}\r\n`)).toMatch(/^HTTP\/1.1 200 /);
  expect(await sendRaw(gateway.port, `${get}content-length: 2\r\n\r\n{}`)).toMatch(/^HTTP\/1.1 400 /);
  services.answers['settlement.verify'] = () => null; // The check of the output fails, so 500 shows that the call reached the service.
  expect(await send('POST', `/v1/settlements/${newId('stl')}/verify`)).toMatchObject({ status: 500 });
  expect(services.calls.map(({ operation }) => operation)).toEqual(['quote.list', 'settlement.verify']);
});

test.each([
  ['SQL', "q_1'%20OR%201=1--"],
  ['path', '..%2f..%2fetc%2fpasswd'],
  ['NUL', `${newId('q')}%00`],
  ['line end', `${newId('q')}%0a`],
  ['lone surrogate', '%ED%A0%80'],
  ['broken escape', '%zz'],
  ['half escape', 'q_%E0%A4'],
  ['dots', '..%2e'],
  ['other kind of id', newId('stl')],
  ['upper case', newId('q').toUpperCase()],
  ['10 kB', 'q'.repeat(10_000)],
  ['empty', ''],
  ['wildcard subject', '%3E'],
])('id: %s', async (_name, id) => {
  const { status, code } = await send('GET', `/v1/quotes/${id}`);
  expect([400, 404]).toContain(status);
  expect(code).toBe(status === 400 ? 'validation_error' : 'not_found');
  expect(services.calls).toEqual([]);
});

test.each<[string, unknown]>([
  ['empty', ''],
  ['129 characters', 'a'.repeat(129)],
  ['slash', 'a/b'],
  ['NUL', 'a\0'],
  ['number', 1],
])('payment_attempt_id: %s', async (_name, payment_attempt_id) => {
  const body = JSON.stringify({ quote_token: 'a.b', payment_attempt_id });
  expect(await send('POST', '/v1/settle', body, { credential: payer })).toMatchObject(refused);
  expect(services.calls).toEqual([]);
});

test('calls to an environment that this gateway does not serve are refused', async () => {
  const live = services.addKey(createKeyText('vendor_live_'), newServiceKey());
  expect(await send('GET', '/v1/quotes', undefined, { credential: live })).toMatchObject({ status: 401 });
  const account = JSON.stringify({ email: 'a@example.com', environment: 'live' });
  expect(await send('POST', '/v1/accounts', account)).toMatchObject({
    ...refused,
    details: [{ path: 'environment' }],
  });
  const link = JSON.stringify({ token: 'ml_live_abc' });
  expect(await send('POST', '/v1/auth/magic-link/verify', link)).toMatchObject(refused);
});

test.each([
  ['GET', '/'.repeat(50)],
  ['GET', '/v1/nothing'],
  ['GET', '/V1/quotes'],
  ['DELETE', '/v1/nothing'],
  ['DELETE', '/v1/settlements/x/nothing'],
  ['GET', '/console/assets/../../package.json'],
  ['GET', '/docs/site/dist/index.html'],
])('%s %s is no route', async (method, path) => {
  expect(await send(method, path)).toMatchObject({
    status: 404,
    code: 'not_found',
    message: expect.stringMatching(
      /^no such path; (did you mean \/v1\/[a-z]+\? )?http.*\/docs has the paths of this API$/,
    ),
    allow: null,
  });
});

test.each([
  ['PUT', '/v1/quote', 'POST', 'the path has no method PUT; use POST'],
  ['GET', '/v1/quote', 'POST', 'the path has no method GET; use POST, or did you mean GET /v1/quotes?'],
  ['OPTIONS', '/v1/quote', 'POST', 'the path has no method OPTIONS; use POST'],
  ['DELETE', '/v1/health?x=1', 'GET, HEAD', 'the path has no method DELETE; use GET'],
  ['POST', `/v1/settlements/${newId('stl')}`, 'GET, HEAD', 'the path has no method POST; use GET'],
  [
    'PUT',
    '/v1/services/any',
    'DELETE, GET, HEAD, PATCH',
    'the path has no method PUT; use DELETE or GET or PATCH',
  ],
  [
    'POST',
    '/v1/delegates/me',
    'DELETE, GET, HEAD, PATCH',
    'the path has no method POST; use DELETE or GET or PATCH',
  ],
  ['POST', '/docs', 'GET, HEAD', 'the path has no method POST; use GET'],
  ['POST', '/console/any/depth', 'GET, HEAD', 'the path has no method POST; use GET'],
])('%s %s names the methods of the path', async (method, path, allow, message) => {
  expect(await send(method, path)).toMatchObject({ status: 405, code: 'method_not_allowed', message, allow });
  expect(services.calls).toEqual([]);
});

test('HEAD of a path without GET names its methods', async () => {
  for (const [path, status, allow] of [
    ['/v1/quote', 405, 'POST'],
    ['/v1/nothing', 404, null],
  ] as const) {
    const response = await fetch(gateway.url + path, { method: 'HEAD' });
    expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([
      status,
      allow,
      '',
    ]);
  }
});

test.each<[string, string, number]>([
  ['not HTTP', 'hello\r\n\r\n', 400],
  ['unknown method', 'BREW /v1/quote HTTP/1.1\r\nhost: x\r\n\r\n', 400],
  ['no host', 'GET /v1/health HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
  ['broken header', 'GET /v1/health HTTP/1.1\r\nhost x\r\n\r\n', 400],
  [
    'two lengths',
    'POST /v1/quote HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    400,
  ],
  [
    'length and chunks',
    'POST /v1/quote HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['TRACE', 'TRACE /v1/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 405],
  ['broken path', 'GET /%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400],
  ['headers too large', `GET /v1/health HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
])('raw: %s', async (_name, bytes, status) => {
  const [head = '', body = ''] = (await sendRaw(gateway.port, bytes)).split('\r\n\r\n');
  expect(head.split('\r\n')[0]).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  const [, requestId] = /^x-request-id: ([0-9a-f-]{36})\r$/m.exec(head)!;
  expect(head).toMatch(/^cache-control: no-store\r$/m);
  const { error } = JSON.parse(body) as { error: { code: string; message: string } };
  expect(error).toEqual({
    code: expect.any(String),
    message: expect.any(String),
    request_id: requestId,
    docs_url: `${gateway.url}/docs/errors#${error.code}`,
  });
});
