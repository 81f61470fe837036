import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type GatewayFixture, startGatewayFixture } from '../../../test/support/fixtures/gateway.ts';

/** Headers of all answers, and the contact for vulnerabilities. */
let secure: GatewayFixture;
let local: GatewayFixture;
beforeAll(async () => {
  secure = await startGatewayFixture({
    publicKeys: [],
    env: {
      PUBLIC_URL: 'https://api.example.com',
      SECURITY_CONTACTS: 'mailto:security@example.com, https://example.com/report',
      SECURITY_POLICY_URL: 'https://example.com/policy',
    },
  });
  local = await startGatewayFixture({ publicKeys: [] });
});
afterAll(() => Promise.all([secure.stop(), local.stop()]));

const PAGES = ['/', '/docs', '/docs/errors', '/docs/guides', '/docs/guides/limits', '/llms.txt'];
const OTHERS = ['/openapi.json', '/docs/search.json', '/receipt', '/console', '/.well-known/jwks.json'];
const ERRORS = ['/v1/nothing', '/v1/quotes'];
const HSTS = 'strict-transport-security';

test.each([...PAGES, ...OTHERS, ...ERRORS])(
  '%s is remembered as https only, where the gateway is',
  async (path) => {
    const [there, here] = await Promise.all([secure, local].map(({ gateway }) => fetch(gateway.url + path)));
    expect(there!.headers.get(HSTS)).toBe('max-age=63072000');
    expect(here!.headers.get(HSTS)).toBeNull();
  },
);

test('bytes that are no HTTP are answered with the header too', async () => {
  const answer = await new Promise<string>((resolve, reject) => {
    let text = '';
    const socket = connect({ port: secure.gateway.port, host: '127.0.0.1' }, () => socket.write('x\r\n\r\n'));
    socket.on('data', (bytes) => (text += String(bytes)));
    socket.once('close', () => resolve(text)).once('error', reject);
  });
  expect(answer).toContain(`${HSTS}: max-age=63072000`);
});

test.each([...PAGES, '/receipt'])('%s shares no window with a page that opens it', async (path) => {
  const { headers } = await fetch(local.gateway.url + path, { headers: { accept: 'text/html' } });
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
});

test.each([...PAGES, '/receipt', '/console'])('on %s no text becomes a script', async (path) => {
  const { headers } = await fetch(local.gateway.url + path, { headers: { accept: 'text/html' } });
  expect(headers.get('content-security-policy')).toContain(
    "require-trusted-types-for 'script'; trusted-types ",
  );
});

test('security.txt names the contacts of the operator, and ends within a year', async () => {
  const answer = await fetch(`${secure.gateway.url}/.well-known/security.txt`);
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const lines = (await answer.text()).split('\n');
  expect(lines.filter((line) => !line.startsWith('Expires: '))).toEqual([
    'Contact: mailto:security@example.com',
    'Contact: https://example.com/report',
    'Preferred-Languages: en',
    'Canonical: https://api.example.com/.well-known/security.txt',
    'Policy: https://example.com/policy',
    '',
  ]);
  const [expires] = lines.filter((line) => line.startsWith('Expires: '));
  const days = (Date.parse(expires!.slice('Expires: '.length)) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(30);
  expect(days).toBeLessThan(366);
});

test('without contacts there is no security.txt', async () => {
  expect((await fetch(`${local.gateway.url}/.well-known/security.txt`)).status).toBe(404);
});
