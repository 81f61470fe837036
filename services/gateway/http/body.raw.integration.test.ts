import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { RawBody } from '../../../shared/contract/primitives.ts';
import {
  type Gateway,
  type GatewayFixture,
  type Services,
  sendRaw,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';

/** Tests calls whose signature covers the bytes: the service must get them unchanged. */

const OPERATION = 'funding.providerWebhook';
const POINTS = 60;
let fixture: GatewayFixture;
let services: Services;
let gateway: Gateway;

beforeAll(async () => {
  fixture = await startGatewayFixture({
    publicKeys: [],
    limits: { operations: { [OPERATION]: [{ points: POINTS, windowSeconds: 600, per: 'ip' }] } },
  });
  ({ services, gateway } = fixture);
});

afterAll(() => fixture.stop());

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
  ['a field name that other bodies must not have', '{"__proto__":{"a":1}}'],
  ['no JSON', '{"type":'],
  ['bytes that are no UTF-8', Buffer.from([0, 0xff, 0xfe, 0xc0, 0x80, 0x0a])],
  ['a byte order mark', Buffer.from('\ufeff{}')],
  ['nothing', ''],
])('the service gets the bytes unchanged: %s', async (_name, body) => {
  expect(await post('moonpay/test', body)).toEqual({ status: 200 });
  expect(received().bytes.equals(Buffer.from(body))).toBe(true);
});

test('the service gets the headers with lower-case names and without credentials', async () => {
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

test('a header that was sent twice cannot pass for one that was sent once', async () => {
  await sendRaw(
    gateway.port,
    'POST /v1/providers/moonpay/test/webhook HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
      'Moonpay-Signature-V2: t=1,s=a\r\nMoonpay-Signature-V2: t=2,s=b\r\nContent-Length: 2\r\n' +
      'Connection: close\r\n\r\n{}',
  );
  expect(received().headers['moonpay-signature-v2']).toBe('t=1,s=a, t=2,s=b');
});

test('the environment in the path selects the deployment, whatever the body contains', async () => {
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
])('refused by the gateway: %s', async (_name, path, body, headers, status, code) => {
  expect(await post(path, body, headers as Record<string, string>)).toEqual({ status, code });
  expect(services.calls).toEqual([]);
});

test.each<[string, string | Buffer, number]>([
  ['gzip', gzipSync('{}'), 415],
  ['gzip', '{}', 415],
  ['br', '{}', 415],
  ['identity, gzip', '{}', 415],
  ['Identity', '{}', 200],
  ['gzip', '', 200],
])('content encoding %s', async (encoding, body, status) => {
  const answer = await post('moonpay/test', body, { 'content-encoding': encoding });
  expect(answer).toEqual({ status, ...(status === 415 && { code: 'unsupported_media_type' }) });
  expect(services.calls).toHaveLength(status === 415 ? 0 : 1);
});

test('the largest allowed body passes', async () => {
  expect(await post('moonpay/test', 'x'.repeat(64 * 1024))).toEqual({ status: 200 });
  expect(received().bytes).toHaveLength(64 * 1024);
});

test('a query is refused, because the signature does not cover it', async () => {
  const response = await fetch(`${gateway.url}/v1/providers/moonpay/test/webhook?raw_body=AA==`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(response.status).toBe(400);
  expect(services.calls).toEqual([]);
});

test('a bad signature gets 401, and each address has a separate limit', async () => {
  services.answers[OPERATION] = () => {
    throw new ServiceError('unauthorized', 'the signature is not valid');
  };
  expect(await post('moonpay/test', '{}')).toEqual({ status: 401, code: 'unauthorized' });
  const from = { 'x-forwarded-for': '203.0.113.7' };
  const calls = Array.from({ length: POINTS + 5 }, () => post('moonpay/test', '{}', from));
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(POINTS);
  expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  expect((await post('moonpay/test', '{}', { 'x-forwarded-for': '203.0.113.8' })).status).toBe(401);
});
