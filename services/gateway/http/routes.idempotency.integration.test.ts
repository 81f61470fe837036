import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import {
  type Gateway,
  newServiceKey,
  type Servers,
  type Services,
  sendRaw,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/fixtures/gateway.ts';

/** Tests the gateway's part of docs/adr/0017-idempotency-keys.md. The services test the rest. */
let servers: Servers;
let services: Services;
let gateway: Gateway;
let credential = '';

const quote = {
  quote_id: newId('q'),
  quote_token: 'a.b',
  quote_amount: '2500000',
  fee_amount: '12500',
  currency: 'USDC',
  expires_at: '2026-11-21T10:00:00.000Z',
  status: 'pending',
};

beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  gateway = await startGateway(
    { natsPort: { test: servers.natsPort, live: servers.natsPort }, redisPort: servers.redisPort },
    { publicKeys: [], environments: ['test'] },
  );
  credential = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  services.answers['quote.create'] = () => quote;
  services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
});
afterAll(async () => {
  await gateway.stop();
  await services.stop();
  await servers.stop();
});
beforeEach(() => {
  services.calls.length = 0;
  delete services.earlierAnswers['quote.create'];
});

const send = (method: string, path: string, key: string) =>
  fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    ...(method === 'GET'
      ? {}
      : { body: JSON.stringify({ service_id: '0190a5b0-0000-7000-8000-000000000001' }) }),
  });

test('a repeat has the status and body of the first call, and the header that marks a repeat', async () => {
  const first = await send('POST', '/v1/quote', 'k');
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
  services.earlierAnswers['quote.create'] = quote;
  const repeat = await send('POST', '/v1/quote', '~'.repeat(255));
  expect([repeat.status, repeat.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
  expect(await repeat.json()).toEqual(await first.json());
  expect(services.calls).toHaveLength(1);
});

test.each(['', 'a b', 'é', 'a'.repeat(256)])(
  'the key "%s" is refused, and the call is counted',
  async (key) => {
    const response = await send('POST', '/v1/quote', key);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'validation_error', details: [{ path: 'idempotency-key' }] },
    });
    expect(response.headers.get('ratelimit')).not.toBeNull();
    expect(services.calls).toEqual([]);
  },
);

test('a call with two keys is refused, because a proxy may have read either', async () => {
  const body = '{"service_id":"0190a5b0-0000-7000-8000-000000000001"}';
  const answer = await sendRaw(
    gateway.port,
    [
      'POST /v1/quote HTTP/1.1',
      'Host: x',
      'Connection: close',
      `Authorization: Bearer ${credential}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Idempotency-Key: a',
      'Idempotency-Key: a',
      '',
      body,
    ].join('\r\n'),
  );
  expect(JSON.stringify(answer)).toContain('validation_error');
  expect(services.calls).toEqual([]);
});

test('an operation without idempotency ignores the header, whatever its value', async () => {
  const response = await send('GET', '/v1/quotes', 'a b');
  expect([response.status, response.headers.get('idempotent-replayed')]).toEqual([200, null]);
});
