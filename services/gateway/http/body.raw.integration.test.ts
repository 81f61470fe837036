import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { RawBody } from '../../../shared/contract/primitives.ts';
import {
  type Gateway,
  type Scene,
  type Services,
  sendRaw,
  startScene,
} from '../../../test/support/gateway.ts';

/** Calls whose signature is over the bytes: what reaches the service is what came over the wire. */

const OPERATION = 'funding.providerWebhook';
let scene: Scene;
let services: Services;
let gateway: Gateway;

beforeAll(async () => {
  scene = await startScene({ publicKeys: [] });
  ({ services, gateway } = scene);
}, 30_000);

afterAll(() => scene.stop(), 60_000);

beforeEach(() => {
  services.calls.length = 0;
  services.answers[OPERATION] = () => ({ received: true });
});

const post = async (
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<{ status: number; code?: string }> => {
  const response = await fetch(`${gateway.url}/v1/providers/${path}/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const answer = (await response.json()) as { error?: { code: string } };
  return { status: response.status, ...(answer.error && { code: answer.error.code }) };
};
const received = () => {
  const { raw_body, raw_headers, ...params } = services.calls[0]!.input as RawBody & Record<string, string>;
  return { bytes: Buffer.from(raw_body, 'base64'), headers: raw_headers, params };
};

test.each([
  ['JSON with its spaces and order', '{ "b":1.10,\t"a" : 1e400 }\n'],
  ['a field name that our own bodies must not have', '{"__proto__":{"a":1}}'],
  ['no JSON', '{"type":'],
  ['bytes that are no UTF-8', Buffer.from([0, 0xff, 0xfe, 0xc0, 0x80, 0x0a])],
  ['a byte order mark', Buffer.from('\ufeff{}')],
  ['nothing', ''],
])('the bytes arrive as they were sent: %s', async (_name, body) => {
  expect(await post('moonpay/test', body)).toEqual({ status: 200 });
  expect(received().bytes.equals(Buffer.from(body))).toBe(true);
});

test('headers arrive under lower-case names, without credentials', async () => {
  const headers = {
    'Moonpay-Signature-V2': 't=1,s=ab',
    'X-Event-Id': 'evt_1',
    authorization: 'Bearer vendor_test_secret',
    cookie: 'session=secret',
  };
  expect(await post('coinbase/test', '{}', headers)).toEqual({ status: 200 });
  expect(received().headers).toMatchObject({
    'moonpay-signature-v2': 't=1,s=ab',
    'x-event-id': 'evt_1',
    'content-type': 'application/json',
  });
  expect(JSON.stringify(services.calls)).not.toContain('secret');
  expect(services.calls[0]!.caller).toEqual({ kind: 'none' });
});

test('a header that comes twice cannot pass for one that came once', async () => {
  await sendRaw(
    gateway.port,
    'POST /v1/providers/moonpay/test/webhook HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
      'Moonpay-Signature-V2: t=1,s=a\r\nMoonpay-Signature-V2: t=2,s=b\r\nContent-Length: 2\r\n' +
      'Connection: close\r\n\r\n{}',
  );
  expect(received().headers['moonpay-signature-v2']).toBe('t=1,s=a, t=2,s=b');
});

test('the environment in the path chooses the deployment, whatever the body says', async () => {
  await post('moonpay/live', '{"environment":"test"}');
  expect(services.calls.map(({ environment }) => environment)).toEqual(['live']);
  expect(received().params).toEqual({ provider: 'moonpay', environment: 'live' });
});

test.each([
  ['an unknown provider', 'stripe/test', '{}', {}, 400, 'validation_error'],
  ['an unknown environment', 'moonpay/prod', '{}', {}, 400, 'validation_error'],
  [
    'another content type',
    'moonpay/test',
    '{}',
    { 'content-type': 'text/plain' },
    415,
    'unsupported_media_type',
  ],
  ['64 kB and a byte', 'moonpay/test', 'x'.repeat(64 * 1024 + 1), {}, 413, 'payload_too_large'],
])('refused before any service: %s', async (_name, path, body, headers, status, code) => {
  expect(await post(path, body, headers as Record<string, string>)).toEqual({ status, code });
  expect(services.calls).toEqual([]);
});

test('the largest body there is passes', async () => {
  expect(await post('moonpay/test', 'x'.repeat(64 * 1024))).toEqual({ status: 200 });
  expect(received().bytes).toHaveLength(64 * 1024);
});

test('a query is refused: nothing of it is signed', async () => {
  const response = await fetch(`${gateway.url}/v1/providers/moonpay/test/webhook?raw_body=AA==`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(response.status).toBe(400);
  expect(services.calls).toEqual([]);
});

test('a bad signature answers 401, and every address has its own limit', async () => {
  services.answers[OPERATION] = () => {
    throw new ServiceError('unauthorized', 'the signature is not valid');
  };
  expect(await post('moonpay/test', '{}')).toEqual({ status: 401, code: 'unauthorized' });
  const statuses: number[] = [];
  const from = { 'x-forwarded-for': '203.0.113.7' };
  for (let round = 0; round < 13; round++) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => post('moonpay/test', '{}', from)));
    statuses.push(...answers.map(({ status }) => status));
  }
  expect(statuses.filter((status) => status === 401)).toHaveLength(600);
  expect(statuses.filter((status) => status === 429)).toHaveLength(50);
  expect((await post('moonpay/test', '{}', { 'x-forwarded-for': '203.0.113.8' })).status).toBe(401);
});
