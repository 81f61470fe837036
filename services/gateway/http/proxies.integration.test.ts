import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  type Gateway,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/fixtures/gateway.ts';

/**
 * The address for which a call is counted, over real sockets. Each connection is that of a proxy,
 * except at `direct`.
 */

const CALLS = 1200;
let servers: Servers;
let services: Services;
let gateway: Gateway;
let behindTwo: Gateway;
let direct: Gateway;
let traced: Gateway;

beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  const ports = {
    natsPort: { test: servers.natsPort, live: servers.natsPort },
    redisPort: servers.redisPort,
  };
  const start = (env: Record<string, string>) =>
    startGateway(ports, { publicKeys: [], environments: ['test'], env: { HTTP_HOST: '::', ...env } });
  [gateway, behindTwo, direct, traced] = await Promise.all([
    start({ TRUSTED_HOPS: '1', OTEL_TRACES_EXPORTER: 'console' }),
    start({ TRUSTED_HOPS: '2' }),
    start({ TRUSTED_HOPS: '', OTEL_TRACES_EXPORTER: 'console', TRACEPARENT_OF_PROXIES: 'adopt' }),
    start({ TRUSTED_HOPS: '1', TRACEPARENT_OF_PROXIES: 'adopt', OTEL_TRACES_EXPORTER: 'console' }),
  ]);
});

afterAll(async () => {
  await Promise.all([gateway, behindTwo, direct, traced].map((each) => each.stop()));
  await services.stop();
  await servers.stop();
});

type From = { headers?: string[]; peer?: string; to?: Gateway; path?: string };

/** Calls health and returns how many calls the window of its address has left. */
const remaining = ({
  headers = [],
  peer = '127.0.0.1',
  to = gateway,
  path = '/v1/health',
}: From): Promise<number> =>
  new Promise((resolve, reject) => {
    let answer = '';
    const host = peer === '::1' ? '::1' : '127.0.0.1';
    const socket = connect({ port: to.port, host, localAddress: peer }, () => {
      const lines = [`GET ${path} HTTP/1.1`, 'host: x', 'connection: close', ...headers, '', ''];
      socket.write(lines.join('\r\n'));
    });
    socket.on('data', (bytes) => (answer += bytes.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => {
      const [, left] = /^ratelimit: "address";r=(\d+)/m.exec(answer) ?? [];
      if (left === undefined) reject(new Error(answer));
      else resolve(Number(left));
    });
  });
const xff = (...values: string[]) => values.map((value) => `x-forwarded-for: ${value}`);
/** A call that is counted for exactly this address. */
const as = (address: string): From => ({ headers: xff(address) });

test.each<[string, From, From]>([
  ['one hop', { headers: xff('192.0.2.1') }, as('192.0.2.1')],
  ['a proxy that listens on IPv6', { headers: xff('192.0.2.2'), peer: '::1' }, as('192.0.2.2')],
  ['invented hops on the left', { headers: xff('1.1.1.1, 2.2.2.2, 192.0.2.3') }, as('192.0.2.3')],
  [
    'five hundred invented hops',
    { headers: xff(`${Array.from({ length: 500 }, (_, i) => `3.3.${i % 250}.1`).join(', ')}, 192.0.2.4`) },
    as('192.0.2.4'),
  ],
  [
    'what a caller claims before an address of the cluster',
    { headers: xff('6.6.6.6, 10.0.4.9') },
    as('10.0.4.9'),
  ],
  ['an invented proxy', { headers: xff('1.1.1.1, 10.0.0.1, 192.0.2.5') }, as('192.0.2.5')],
  ['several headers, the last counts', { headers: xff('1.1.1.1', '2.2.2.2, 192.0.2.9') }, as('192.0.2.9')],
  ['empty entries', { headers: xff('1.1.1.1,192.0.2.10, ,,') }, as('192.0.2.10')],
  ['with a port', { headers: xff('192.0.2.11:5060') }, as('192.0.2.11')],
  ['with another port', { headers: xff('192.0.2.11:5061') }, as('192.0.2.11')],
  ['mapped IPv4', { headers: xff('::ffff:192.0.2.13') }, as('192.0.2.13')],
  ['mapped IPv4 in hexadecimal', { headers: xff('::FFFF:c000:20e') }, as('192.0.2.14')],
  [
    'IPv6, another address of its /64',
    { headers: xff('2001:db8:1:2::1') },
    as('2001:DB8:1:2:ffff:ffff:ffff:ffff'),
  ],
  ['IPv6 with a port', { headers: xff('[2001:db8:1:3::1]:443') }, as('2001:db8:1:3::2')],
  ['garbage', { headers: xff('unknown') }, {}],
  ['other garbage', { headers: xff('_hidden, "x"') }, {}],
  ['garbage that the caller invented', { headers: xff('x, 192.0.2.15') }, as('192.0.2.15')],
  ['no header', {}, {}],
  ['an empty header', { headers: xff('') }, {}],
  [
    'similar headers',
    {
      headers: [
        'x-real-ip: 1.1.1.1',
        'forwarded: for=1.1.1.1',
        'cf-connecting-ip: 1.1.1.1',
        'x-client-ip: 1.1.1.1',
      ],
    },
    {},
  ],
])('counted for the right address: %s', async (_name, spoofed, counted) => {
  const before = await remaining(counted);
  expect(await remaining(spoofed)).toBe(before - 1);
  expect(await remaining(counted)).toBe(before - 2);
});

test.each<[string, string[], string]>([
  ['two proxies', ['192.0.2.6, 10.1.2.3'], '192.0.2.6'],
  ['an invented third one', ['1.1.1.1, 192.0.2.7, 10.1.2.3'], '192.0.2.7'],
  ['two headers', ['192.0.2.8', '10.1.2.3'], '192.0.2.8'],
  ['a request that has passed only the inner one', ['192.0.2.9'], '192.0.2.9'],
  ['garbage before the outer one', ['1.1.1.1, <script>, 10.7.7.7'], '10.7.7.7'],
])('counted for the right address behind two proxies: %s', async (_name, forwarded, address) => {
  const counted = { to: behindTwo, headers: xff(address) };
  const before = await remaining(counted);
  expect(await remaining({ to: behindTwo, headers: xff(...forwarded) })).toBe(before - 1);
  expect(await remaining(counted)).toBe(before - 2);
});

test('no proxy is trusted by default', async () => {
  const before = await remaining({ to: direct });
  expect(await remaining({ to: direct, headers: xff('1.1.1.1') })).toBe(before - 1);
});

test('neighbouring addresses, /64s and connections have separate counts', async () => {
  for (const from of [as('198.51.100.1'), as('198.51.100.2'), as('2001:db8:5:1::1'), as('2001:db8:5:2::1')]) {
    expect(await remaining(from)).toBe(CALLS - 1);
  }
  expect(await remaining({ peer: '127.0.0.3', to: direct, headers: xff('198.51.100.1') })).toBe(CALLS - 1);
});

/**
 * The exporter prints the trace id of a span with two spaces of indentation, that of a link with
 * more.
 */
const traceOf = async (id: string, from: From): Promise<'adopted' | 'linked'> => {
  const { to = gateway, headers = [] } = from;
  const traceparent = `traceparent: 00-${id}-aaaaaaaaaaaaaaaa-01`;
  await remaining({ ...from, path: '/.well-known/jwks.json', headers: [...headers, traceparent] });
  // The span ends after the answer was sent. Its text is complete with the closing bracket.
  const isPrinted = new RegExp(`${id}[^]*?\\n}`);
  await waitUntil(() => isPrinted.test(to.log()));
  return new RegExp(`^ {2}traceId: '${id}'`, 'm').test(to.log()) ? 'adopted' : 'linked';
};

test('a traceparent becomes a link, also behind a proxy that passes on what its caller sent', async () => {
  expect(await traceOf('3'.repeat(32), { headers: xff('192.0.2.77') })).toBe('linked');
  expect(await traceOf('4'.repeat(32), {})).toBe('linked');
});

test('a traceparent is adopted only from proxies that begin the traces', async () => {
  expect(await traceOf('5'.repeat(32), { to: traced, headers: xff('192.0.2.77') })).toBe('adopted');
  expect(await traceOf('6'.repeat(32), { to: direct, headers: xff('192.0.2.77') })).toBe('linked');
});

test('no forwarded host or protocol is trusted', async () => {
  const document = await fetch(`${gateway.url}/openapi.json`, {
    headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'gopher', 'x-forwarded-port': '1' },
  });
  expect(await document.text()).not.toMatch(/evil|gopher/);
});
