import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import {
  type Gateway,
  newServiceKey,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/fixtures/gateway.ts';

const SHOP = 'https://shop.example';
const OTHER = 'https://other.example';

let servers: Servers;
let services: Services;
const gateways: Record<string, Gateway> = {};
let key = '';

beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  key = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
  const ports = {
    natsPort: { test: servers.natsPort, live: servers.natsPort },
    redisPort: servers.redisPort,
  };
  const start = (env: Record<string, string>) =>
    startGateway(ports, { publicKeys: [], environments: ['test'], env });
  [gateways.off, gateways.listed, gateways.all] = await Promise.all([
    start({}),
    start({ CORS_ORIGINS: `${SHOP},https://second.example` }),
    start({ CORS_ORIGINS: '*' }),
  ]);
});

afterAll(async () => {
  for (const gateway of Object.values(gateways)) await gateway.stop();
  await services.stop();
  await servers.stop();
});

const send = async (
  gateway: string,
  method: string,
  origin: string,
  headers: Record<string, string> = {},
) => {
  const response = await fetch(`${gateways[gateway]!.url}/v1/quotes`, {
    method,
    headers: { origin, ...headers },
  });
  await response.text();
  const allowed = Object.fromEntries(
    [...response.headers].filter(([name]) => name.startsWith('access-control-')),
  );
  return { status: response.status, vary: response.headers.get('vary'), allowed };
};
const preflight = (gateway: string, origin: string) =>
  send(gateway, 'OPTIONS', origin, {
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization',
  });
const authorized = () => ({ authorization: `Bearer ${key}` });

test('without the setting no page may call the API', async () => {
  expect(await preflight('off', SHOP)).toEqual({ status: 405, vary: null, allowed: {} });
  expect(await send('off', 'GET', SHOP, authorized())).toEqual({ status: 200, vary: null, allowed: {} });
});

test('a listed origin: its preflight is cached, and its page can read answers and refusals', async () => {
  expect(await preflight('listed', SHOP)).toMatchObject({
    status: 204,
    vary: 'Origin',
    allowed: {
      'access-control-allow-origin': SHOP,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
      'access-control-allow-headers':
        'authorization, content-type, x-request-id, traceparent, idempotency-key',
      'access-control-max-age': '7200',
    },
  });
  const readable = {
    vary: 'Origin',
    allowed: {
      'access-control-allow-origin': SHOP,
      'access-control-expose-headers':
        'x-request-id, retry-after, ratelimit, ratelimit-policy, idempotent-replayed, deprecation, sunset, link',
    },
  };
  expect(await send('listed', 'GET', SHOP, authorized())).toMatchObject({ status: 200, ...readable });
  expect(await send('listed', 'GET', SHOP)).toMatchObject({ status: 401, ...readable });
});

test.each([OTHER, 'null', `${SHOP}.evil.example`, 'http://shop.example', 'https://SHOP.example'])(
  'the page of an origin that is not listed may read nothing: %s',
  async (origin) => {
    for (const { allowed, vary } of [
      await preflight('listed', origin),
      await send('listed', 'GET', origin),
    ]) {
      expect(allowed).not.toHaveProperty('access-control-allow-origin');
      // A cache must not give one origin the answer of another.
      expect(vary).toBe('Origin');
    }
  },
);

test.each(['off', 'listed', 'all'])('the public documents are for every page: %s', async (gateway) => {
  const { headers } = await fetch(`${gateways[gateway]!.url}/.well-known/jwks.json`, {
    headers: { origin: OTHER },
  });
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.has('access-control-allow-credentials')).toBe(false);
});

test('a listed origin reads the public documents with the cookies that its client sends', async () => {
  const { headers } = await fetch(`${gateways.listed!.url}/.well-known/jwks.json`, {
    headers: { origin: SHOP },
  });
  expect(headers.get('access-control-allow-origin')).toBe(SHOP);
  expect(headers.get('access-control-allow-credentials')).toBe('true');
});

test('the route of preflights makes no path known', async () => {
  const answer = await fetch(`${gateways.all!.url}/v1/nothing`);
  expect([answer.status, answer.headers.get('allow')]).toEqual([404, null]);
});

test('with all origins allowed, no page may send cookies', async () => {
  for (const { allowed } of [await preflight('all', OTHER), await send('all', 'GET', OTHER, authorized())]) {
    expect(allowed).toMatchObject({ 'access-control-allow-origin': '*' });
    expect(allowed).not.toHaveProperty('access-control-allow-credentials');
  }
});

describe('the calls of a wallet that has scanned a code', () => {
  const path = `/v1/payment-links/${newId('pl')}/solana-pay/test/${'a'.repeat(43)}`;
  test.each(['off', 'listed', 'all'])('are for every page, refusals included: %s', async (gateway) => {
    const call = (method: string, headers: Record<string, string> = {}, body?: string) =>
      fetch(`${gateways[gateway]!.url}${path}`, {
        method,
        headers: { origin: OTHER, ...headers },
        ...(body !== undefined && { body }),
      });
    const asked = await call('OPTIONS', {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-methods')).toContain('POST');
    expect(asked.headers.get('access-control-allow-headers')).toContain('content-type');
    const json = { 'content-type': 'application/json' };
    for (const answer of [asked, await call('GET'), await call('POST', json, '{"account":"no"}')]) {
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
    }
  });

  test('no other call of payment links is', async () => {
    const url = `${gateways.off!.url}/v1/payment-links`;
    const headers = { origin: OTHER, 'access-control-request-method': 'POST' };
    for (const open of [url, `${url}/${newId('pl')}/quote`]) {
      const { status, headers: answered } = await fetch(open, { method: 'OPTIONS', headers });
      expect([status, answered.get('access-control-allow-origin')]).toEqual([405, null]);
    }
  });
});
