import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createApi, patientApi } from './api.ts';

let server: Server | undefined;
afterEach(() => {
  server?.close();
});

/** A gateway that answers each call with the next status, and the keys that it saw. */
const gatewayOf = async (...statuses: number[]) => {
  const keys: (string | undefined)[] = [];
  const listener = createServer((request, response) => {
    keys.push(request.headers['idempotency-key'] as string | undefined);
    const status = statuses[keys.length - 1]!;
    response.writeHead(status, status === 503 ? { 'retry-after': '0' } : {}).end('{}');
  });
  server = listener;
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
  const api = createApi(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
  return { keys, api };
};

test('a patient caller repeats a 503 with the same Idempotency-Key', async () => {
  const { keys, api } = await gatewayOf(503, 503, 201);
  expect((await patientApi(api)('POST /v1/delegates', { body: {} })).status).toBe(201);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
});

test('each call of a patient caller has its own Idempotency-Key', async () => {
  const { keys, api } = await gatewayOf(201, 201);
  const patient = patientApi(api);
  await patient('POST /v1/delegates', { body: {} });
  await patient('POST /v1/delegates', { body: {} });
  expect(new Set(keys).size).toBe(2);
});

test.each([400, 409, 429, 500, 502])('a patient caller does not repeat a %i', async (status) => {
  const { keys, api } = await gatewayOf(status, 201);
  expect((await patientApi(api)('POST /v1/delegates')).status).toBe(status);
  expect(keys).toHaveLength(1);
});

test('a patient caller returns the 503 when its time is over', async () => {
  const { keys, api } = await gatewayOf(503, 201);
  expect((await patientApi(api, { patienceMs: -1 })('POST /v1/delegates')).status).toBe(503);
  expect(keys).toHaveLength(1);
});
