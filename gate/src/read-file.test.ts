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
  - match: GET /forecast/:city
    price: $0.10
    prepaid: { units: 100, ahead: 20 }
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
      { match: 'GET /report', price: '50000' },
      { match: 'GET /forecast/:city', price: '100000', prepaid: { units: 100, ahead: 20 } },
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
    "gate.yaml:3: routes[0].price: name the unit: '$5' or '5.0' is 5 USDC",
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
  ['routes:\n  - match: GET /a\n    prise: 0.05', 'gate.yaml:3: routes[0].prise: is no setting'],
  ['upstream: http://a/b', 'gate.yaml:1: upstream: leave out the path'],
  ['\nlisten: 99999', 'gate.yaml:2: listen: use a port'],
  ['timeouts:\n  answer: 30', 'gate.yaml:2: timeouts.answer: use a time like'],
  ['a: 1\na: 2', 'gate.yaml:2: Map keys must be unique'],
  ['a: [1', 'gate.yaml:1: Flow sequence'],
])('%j is refused with its line', (content, expected) => {
  expect(() => readGateFile('gate.yaml', content)).toThrow(expected);
});
