import { expect, test } from '@jest/globals';
import { SERVICE_KEY } from '../../../test/support/base/keys.ts';
import { type Command, readCommand, readSettings } from './settings.ts';

const ENV = {
  QUITTANCE_URL: 'http://127.0.0.1:3402',
  SERVICE_KEY,
  SERVICE_ID: '00000000-0000-4000-8000-000000000000',
};
const ARGS = ['--upstream', 'http://127.0.0.1:9000', '--price', 'GET /report=0.05'];
const settings = (args: string[], env: Record<string, string> = {}, file = '') =>
  readSettings(readCommand(args) as Extract<Command, { kind: 'run' }>, { ...ENV, ...env }, () => file);

test('a command line and the environment are enough', () => {
  expect(settings([...ARGS, '--free', 'GET /report/sample', '--listen', '9999'])).toMatchObject({
    upstream: new URL('http://127.0.0.1:9000'),
    listen: { host: '127.0.0.1', port: 9999 },
    paywall: { environment: 'test', publicUrl: 'http://127.0.0.1:9999' },
    routes: [
      { match: 'GET /report', paid: { price: '50000' } },
      { match: 'GET /report/sample', paid: null },
    ],
    passesUnmatched: true,
  });
});

test('a metered route of the command line has the names of the file', () => {
  const chat =
    'POST /chat max=$1 unit_price=$0.00001 units_header=X-Tokens tab=true per_call=$0.05 extend=true';
  const { routes } = settings([
    ...ARGS.slice(0, 2),
    '--metered',
    chat,
    '--metered',
    'GET /a max=$1 price=$0.1',
  ]);
  expect(routes).toEqual([
    {
      match: 'POST /chat',
      paid: { max: '1000000', price: expect.any(Function), tab: { perCall: '50000', extend: true } },
      answerPrice: { base: 0n, header: 'x-tokens', unitPrice: 10n },
    },
    {
      match: 'GET /a',
      paid: { max: '1000000', price: '100000' },
      answerPrice: { base: 100_000n, header: null, unitPrice: null },
    },
  ]);
});

test('the command line counts before the file, and the file before the environment', () => {
  const file =
    'upstream: http://file:1\npublic_url: https://file\nroutes:\n  - { match: GET /b, price: 0.02 }';
  const read = settings([...ARGS, 'gate.yaml'], { PUBLIC_URL: 'https://env' }, file);
  expect(read.upstream?.host).toBe('127.0.0.1:9000');
  expect(read.paywall.publicUrl).toBe('https://file');
  expect(read.routes.map(({ match }) => match)).toEqual(['GET /report', 'GET /b']);
});

test.each([
  [['--price', 'GET /a'], {}, "--price: 'GET /a' has no price"],
  [['--price', 'GET /a=5'], {}, "--price: write '$0.05'"],
  [['--metered', 'GET /a price=$1'], {}, "--metered: 'GET /a price=$1' has no max"],
  [['--metered', 'GET /a max'], {}, "--metered: 'max' is no setting"],
  [['--metered', 'GET /a max=$1 tab=true'], {}, '--metered: max: name what a call costs'],
  [['--authorize', '--metered', 'GET /a max=$1 price=$0.1'], {}, "'GET /a' is metered"],
  [['--free', 'a'], {}, '--free: use methods and a path'],
  [['--upstream', 'localhost:9000'], {}, '--upstream: use an address with its scheme'],
  [['--nonsense'], {}, '--nonsense is no option; --help lists them'],
  [['--upstraem', 'http://a'], {}, '--upstraem is no option; did you mean --upstream?'],
  [['--lisen=80'], {}, '--lisen is no option; did you mean --listen?'],
  [['--price', 'get /r=0.05'], {}, "--price: write methods in capital letters: 'GET /r'"],
  [['a.yaml', 'b.yaml'], {}, 'name one file, not a.yaml and b.yaml'],
  [['--upstream', 'http://a'], {}, 'no route has a price'],
  [['--price', 'GET /a=0.05'], {}, 'upstream (--upstream) is missing'],
  [ARGS, { SERVICE_KEY: '' }, 'SERVICE_KEY is missing'],
  [ARGS, { UPSTREAM_SECRET: 'short' }, 'UPSTREAM_SECRET: use at least 32'],
  [ARGS, { STORE_URL: 'mysql://a' }, 'STORE_URL: use redis://'],
] as [string[], Record<string, string>, string][])('%j %j is refused: %s', (args, env, expected) => {
  expect(() => settings(args, env)).toThrow(expected);
});

test('free calls by address need the address of the caller', () => {
  const file = (more: string) =>
    `mode: authorize\nroutes:\n  - { match: GET /b, price: 0.02, free: { calls: 5, per: day${more} } }`;
  const of = (content: string) => settings(['gate.yaml'], {}, content);
  expect(() => of(file(''))).toThrow("'GET /b' has free calls by address");
  expect(of(`trust_proxy: 2\n${file('')}`)).toMatchObject({
    proxies: 2,
    routes: [{ paid: { price: '20000' }, free: { calls: 5, per: 'day', by: null } }],
  });
  expect(of(file(', by: X-Api-Key')).routes[0]!.free?.by).toBe('x-api-key');
  expect(of(`trust_proxy: true\n${file('')}`).proxies).toBe(1);
});

test('a dialect needs the secret that signs its offers', () => {
  expect(() => settings([...ARGS, 'gate.yaml'], {}, 'dialects: [mpp]')).toThrow(
    'OFFER_SECRET is missing: mpp',
  );
});
