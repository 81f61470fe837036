import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type HealthServer, startHealthServer } from './http.ts';
import { build } from './telemetry/version.ts';

let health: HealthServer;
beforeEach(async () => {
  health = await startHealthServer({ host: '127.0.0.1', port: 0 });
});
afterEach(() => health.close());

const get = async (path: string) => {
  const response = await fetch(`http://127.0.0.1:${health.port}${path}`);
  return { status: response.status, body: await response.json() };
};
const alive = { status: 200, body: { status: 'ok', ...build } };
const up = async () => {};
const down = async () => {
  throw new Error('postgres://quote:secret@db');
};
const silent = () => new Promise(() => {});

test('a process that waits for its bus is alive and not ready', async () => {
  expect(await get('/v1/health')).toEqual(alive);
  expect(await get('/v1/health/ready')).toEqual({
    status: 503,
    body: { status: 'starting', dependencies: {} },
  });
});

test.each([
  ['both answer', { postgres: up, nats: up }, 200, 'ready', { postgres: 'up', nats: 'up' }],
  ['Postgres refuses', { postgres: down, nats: up }, 503, 'not_ready', { postgres: 'down', nats: 'up' }],
  ['NATS refuses', { postgres: up, nats: down }, 503, 'not_ready', { postgres: 'up', nats: 'down' }],
  ['NATS is silent', { postgres: up, nats: silent }, 503, 'not_ready', { postgres: 'up', nats: 'down' }],
])('readiness when %s', async (_, checks, status, body, dependencies) => {
  health.begin(checks);
  // The whole body is compared, because the error's text must not be in it.
  expect(await get('/v1/health/ready')).toEqual({ status, body: { status: body, dependencies } });
  expect(await get('/v1/health')).toEqual(alive);
});

test('a process is ready again when its dependency is', async () => {
  let postgres: () => Promise<void> = down;
  health.begin({ postgres: () => postgres() });
  expect((await get('/v1/health/ready')).status).toBe(503);
  postgres = up;
  expect((await get('/v1/health/ready')).status).toBe(200);
});

test('a draining process is alive, not ready, and reports the reason', async () => {
  health.begin({ postgres: up });
  health.drain();
  expect(await get('/v1/health/ready')).toEqual({
    status: 503,
    body: { status: 'draining', dependencies: { postgres: 'up' } },
  });
  expect(await get('/v1/health')).toEqual(alive);
});

test('any other path is not found', async () => {
  expect((await get('/metrics')).status).toBe(404);
});
