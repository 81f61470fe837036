import { expect, test } from '@jest/globals';
import { SERVICE_KEY } from '../../../test/support/base/keys.ts';
import { createRouter, routeOf } from '../ground/routes.ts';
import { openApiRoutes } from './openapi.ts';
import { routeSettingsOf } from './route-settings.ts';
import { readCommand, readSettings } from './settings.ts';

const PUBLIC = { publicUrl: 'https://api.example.com', isPassing: true };
const routes = (content: string, changed: Partial<typeof PUBLIC> = {}) =>
  openApiRoutes('openapi.yaml', content, { ...PUBLIC, ...changed });
const priced = (currency: string, amount: string) =>
  `{ 'x-payment-info': { method: solana, intent: charge, currency: ${currency}, amount: ${amount} } }`;
const file = (paths: string, more = '') => `openapi: 3.1.0\n${more}paths:\n${paths}\n`;

const FILE = file(
  `  /reports/{report-id}:
    summary: A report
    parameters: []
    get:
      x-payment-info:
        offers:
          - { method: tempo, intent: charge, currency: "0x20c0", amount: "70000" }
          - { method: solana, intent: charge, currency: USDC, amount: "50000" }
      responses: { 200: { description: The report }, 402: { description: Payment Required } }
    delete: { responses: {} }
  /reports/sample:
    get: {}
  /chat/{1}:
    post:
      x-quittance: { max: $1, unit_price: $0.00001, units_header: X-Tokens }
  /health:
    get: ${priced('USDC', '0')}
  /report.{format}:
    get: {}`,
  'servers: [{ url: https://api.example.com/v1 }]\n',
);

test('prices and patterns come from the operations, concrete paths first', () => {
  expect(routes(FILE)).toEqual([
    { match: 'GET /v1/health', free: true },
    { match: 'GET /v1/reports/sample', free: true },
    { match: 'GET /v1/reports/:report_id', price: '50000' },
    { match: 'DELETE /v1/reports/:report_id', free: true },
    { match: 'POST /v1/chat/:_1', max: '1000000', unit_price: '10', units_header: 'x-tokens' },
  ]);
  const router = createRouter(
    routes(FILE).map((each) => routeOf(routeSettingsOf(each))),
    true,
  );
  const find = (path: string) => router({ method: 'GET', path, isPreflight: false }).route;
  expect(find('/v1/reports/7')?.paid).toEqual({ price: '50000' });
  expect(find('/v1/reports/sample')?.paid).toBeNull();
  expect(find('/v1/other')).toBeNull();
});

test('an operation without a price has no route if the rest is refused', () => {
  expect(routes(FILE, { isPassing: false }).map(({ match }) => match)).toEqual([
    ...['GET /v1/health', 'GET /v1/reports/:report_id', 'POST /v1/chat/:_1'],
  ]);
});

test('JSON is read like YAML, with the amount as a number too', () => {
  const info = { currency: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', amount: 1_500_000_000 };
  const paths = { '/a': { get: { 'x-payment-info': info } } };
  expect(routes(JSON.stringify({ openapi: '3.0.3', paths }))).toEqual([
    { match: 'GET /a', price: '1500000000' },
  ]);
});

test.each([
  ['[{ url: / }]', 'https://a.example', ['GET /a']],
  [
    '[{ url: /v1/ }, { url: "https://b.example/v2" }, { url: "https://c.example/v1" }]',
    'https://a.example',
    ['GET /v1/a', 'GET /v2/a'],
  ],
  ['[{ url: "https://{region}.example/{version}" }]', 'https://a.example', ['GET /:version/a']],
  ['[{ url: "https://a.example/shop/v1" }]', 'https://a.example/shop', ['GET /v1/a']],
  ['[{ url: "https://a.example/shopping" }]', 'https://a.example/shop', ['GET /shopping/a']],
])('the paths of servers %s at %s are %j', (servers, publicUrl, expected) => {
  const content = file(`  /a:\n    get: ${priced('USDC', '50000')}`, `servers: ${servers}\n`);
  expect(routes(content, { publicUrl }).map(({ match }) => match)).toEqual(expected);
});

test('the servers of a path and of an operation count before those of the file', () => {
  const operation = (more: string) => priced('USDC', '1').replace('{', `{ ${more}`);
  const paths = `  /a:\n    servers: [{ url: /b }]\n    get: ${operation('')}\n    put: ${operation('servers: [{ url: /c }],')}`;
  expect(routes(file(paths, 'servers: [{ url: /v1 }]\n')).map(({ match }) => match)).toEqual([
    ...['GET /b/a', 'PUT /c/a'],
  ]);
});

test.each([
  ['swagger: "2.0"\npaths: {}', "openapi.yaml:1: openapi: use OpenAPI 3: the file has no 'openapi'"],
  ['openapi: 2.0.0', 'openapi.yaml:1: openapi: use OpenAPI 3'],
  ['openapi: 3.1.0\npaths: [', 'openapi.yaml:2: '],
  [file('  /a:\n    $ref: other.yaml'), 'openapi.yaml:4: paths./a.$ref: write the operations here'],
  ...(
    [
      [priced('USD', '5'), 'x-payment-info: name an offer with currency: USDC'],
      [priced('USDC', 'null'), 'x-payment-info: amount: use the micro-units of USDC'],
      [priced('USDC', '0.05'), 'x-payment-info: amount: use the micro-units of USDC'],
      [priced('USDC', '-5'), 'x-payment-info: amount: use the micro-units of USDC'],
      ["{ 'x-payment-info': { offers: [] } }", 'x-payment-info.offers: '],
      [
        "{ 'x-payment-info': { offers: [{ currency: USDC, amount: 1 }, { currency: USDC, amount: 2 }] } }",
        'x-payment-info: its offers in USDC have different amounts',
      ],
      ["{ 'x-quittance': { prise: $1 } }", 'x-quittance.prise: is no setting'],
      ["{ 'x-quittance': { max: $1 } }", 'x-quittance.max: name what a call costs'],
    ] as const
  ).map(([operation, said]) => [
    file(`  /a:\n    get: ${operation}`),
    `openapi.yaml:4: paths./a.get.${said}`,
  ]),
  [
    file(`  /a.{b}:\n    get: ${priced('USDC', '1')}`),
    'openapi.yaml:3: paths./a.{b}: the gate matches whole parts',
  ],
  [
    file(`  /a:b:\n    get: ${priced('USDC', '1')}`),
    "openapi.yaml:3: paths./a:b: 'a:b' is no part of a path",
  ],
])('%j is refused with its line', (content, expected) => {
  expect(() => routes(content!)).toThrow(expected);
});

test('the settings name it beside the file of the gate, whose routes count first', () => {
  const env = { SERVICE_KEY, QUITTANCE_URL: 'http://127.0.0.1:1', SERVICE_ID: 'a' };
  const files: Record<string, string> = {
    'a/prices.yaml': file(`  /a:\n    get: ${priced('USDC', '50000')}`),
    'a/gate.yaml': 'openapi: ./prices.yaml\nroutes:\n  - { match: GET /a, price: $7 }',
  };
  const read = (...args: string[]) =>
    readSettings(readCommand(['--upstream', 'http://127.0.0.1:9', ...args]) as never, env, (name) => {
      if (files[name] === undefined) throw new Error('there is no such file');
      return files[name];
    }).routes.map(({ match, paid }) => [match, paid]);
  expect(read('--openapi', 'a/prices.yaml')).toEqual([['GET /a', { price: '50000' }]]);
  expect(read('a/gate.yaml')).toEqual([
    ['GET /a', { price: '7000000' }],
    ['GET /a', { price: '50000' }],
  ]);
  expect(() => read('--openapi', 'b.yaml')).toThrow('b.yaml cannot be read: there is no such file');
});
