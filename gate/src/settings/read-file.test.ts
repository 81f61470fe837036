import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { fileSchema } from './config.ts';
import { readGateFile } from './read-file.ts';

const FILE = `# a gate
upstream: http://127.0.0.1:9000
listen: 0.0.0.0:8402
public_url: https://api.example.com/
unmatched: refuse
dialects: [x402]
timeouts: { answer: 30s, idle: 5m }
routes:
  - match: GET /report
    price: 0.05
    free: { calls: 10, per: day, by: X-Api-Key }
  - match: GET /forecast/:city
    price: $0.10
    prepaid: { units: 100 }
  - match: POST /chat
    max: $1
    unit_price: $0.00001
    units_header: X-Tokens
    tab: true
    per_call: 0.05
    extend: true
    threshold: 5 USDC
    window: 2h
  - match: GET /health
    free: true
`;

test('a file is read without a float, and its schema accepts it as editors see it', () => {
  expect(readGateFile('gate.yaml', FILE)).toEqual({
    upstream: 'http://127.0.0.1:9000',
    listen: { host: '0.0.0.0', port: 8402 },
    public_url: 'https://api.example.com',
    unmatched: 'refuse',
    dialects: ['x402'],
    timeouts: { answer: 30_000, idle: 300_000 },
    routes: [
      { match: 'GET /report', price: '50000', free: { calls: 10, per: 'day', by: 'x-api-key' } },
      { match: 'GET /forecast/:city', price: '100000', prepaid: { units: 100 } },
      {
        ...{ match: 'POST /chat', max: '1000000', unit_price: '10', units_header: 'x-tokens' },
        ...{ tab: true, per_call: '50000', extend: true, threshold: '5000000', window: 7_200_000 },
      },
      { match: 'GET /health', free: true },
    ],
  });
  const validate = new Ajv({ strict: false }).compile(fileSchema());
  expect([validate(parse(FILE)), validate.errors]).toEqual([true, null]);
  expect(validate({ rutes: [] })).toBe(false);
});

test('an empty file has no settings', () => {
  expect(readGateFile('gate.yaml', '')).toEqual({});
});

test.each([
  [
    'routes:\n  - match: GET /a\n    price: 5',
    "gate.yaml:3: routes[0].price: write '$0.05', '0.05' or '0.05 USDC'; not '5': write '$5' for 5.00 USDC",
  ],
  [
    'routes:\n  - match: GET /a\n    price: 0.0000001',
    'gate.yaml:3: routes[0].price: has more than six decimals',
  ],
  ['routes:\n  - match: GET /a\n    price: -0.05', 'gate.yaml:3: routes[0].price: '],
  ['routes:\n  - match: GET /a\n    price: 1e-2', 'gate.yaml:3: routes[0].price: '],
  ['routes:\n  - match: /a\n    price: 0.05', 'gate.yaml:2: routes[0].match: use methods and a path'],
  ['routes:\n  - match: GET /a', 'gate.yaml:2: routes[0]: name either a price or free: true'],
  [
    'routes:\n  - match: GET /a\n    price: 0.05\n    free: yes',
    'gate.yaml:4: routes[0].free: use true or false',
  ],
  [
    'routes:\n  - match: GET /a\n    prise: 0.05',
    'gate.yaml:3: routes[0].prise: is no setting; did you mean price?',
  ],
  ['timeouts:\n  anwser: 30s', 'gate.yaml:2: timeouts.anwser: is no setting; did you mean answer?'],
  ['upstraem: http://a', 'gate.yaml:1: upstraem: is no setting; did you mean upstream?'],
  ['quux: 1', 'gate.yaml:1: quux: is no setting'],
  ...(
    [
      ['price: 0.01\n    tab: true', 4, 'tab: is for a metered route: name max'],
      ['max: $1', 3, 'max: name what a call costs: price, units_header or price_header'],
      ['max: $1\n    free: true', 3, 'max: a free route has no ceiling'],
      ['max: $1\n    price: 0.01\n    prepaid: { units: 5 }', 5, 'prepaid: a metered route is not prepaid'],
      ['max: $1\n    price: $1.01', 4, 'price: use at most max'],
      ['max: $1\n    units_header: X-Tokens', 4, 'units_header: name both units_header and unit_price'],
      ['max: $1\n    units_header: a:b\n    unit_price: 0.1', 4, 'units_header: use the name of one header'],
      ['max: $1\n    price_header: X-Cost\n    tab: true', 5, 'tab: name per_call'],
      ['max: $1\n    price_header: X-Cost\n    per_call: 0.1', 5, 'per_call: is for a tab'],
      ['max: $1\n    price: 0.1\n    tab: true\n    per_call: 0.05', 6, 'per_call: use at least price'],
      ['max: $1\n    price: 0.1\n    extend: true', 5, 'extend: is for a tab'],
      ['max: $1\n    price: 0.1\n    tab: true\n    threshold: $2', 6, 'threshold: use at most max'],
      ['max: $1\n    price: 0.1\n    window: 10s', 5, "window: use a time like '500ms', '30s' or '5m', from"],
    ] as const
  ).map(([more, line, said]) => [
    `routes:\n  - match: GET /a\n    ${more}`,
    `gate.yaml:${line}: routes[0].${said}`,
  ]),
  ...(
    [
      ['free: { calls: 0, per: day }', 'free.calls: use a whole number from 1'],
      ['free: { calls: 1, per: week }', 'free.per: Invalid option: expected one of "hour"|"day"|"month"'],
      ['free: { calls: 1, pre: day }', 'free.pre: is no setting; did you mean per?'],
      ['free: { calls: 1, per: day, by: "a b" }', 'free.by: use the name of one header'],
      ['free: { calls: 1, per: day }', 'free: name the price of the calls that are not free'],
    ] as const
  ).map(([more, said], at) => [
    `routes:\n  - match: GET /a\n    ${at < 4 ? 'price: 0.05\n    ' : ''}${more}`,
    `gate.yaml:${at < 4 ? 4 : 3}: routes[0].${said}`,
  ]),
  ['trust_proxy: 11', 'gate.yaml:1: trust_proxy: use true, false, or the number of proxies'],
  ['upstream: http://a/b', 'gate.yaml:1: upstream: leave out the path'],
  ['\nlisten: 99999', 'gate.yaml:2: listen: use a port'],
  ['timeouts:\n  answer: 30', 'gate.yaml:2: timeouts.answer: use a time like'],
  ['a: 1\na: 2', 'gate.yaml:2: Map keys must be unique'],
  ['a: [1', 'gate.yaml:1: Flow sequence'],
])('%j is refused with its line', (content, expected) => {
  expect(() => readGateFile('gate.yaml', content)).toThrow(expected);
});
