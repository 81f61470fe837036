import type { Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { ask, startGateHarness } from '../../../test/support/fixtures/gate.ts';
import { startProxy } from '../../../test/support/servers/proxy.ts';

/** The end of a gate while another one goes on with the same store. */
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

test.each([
  ['no answer yet', 0],
  ['the beginning of an answer', 10],
  ['more of an answer than is stored', 50_000],
])('a payment whose call is cut off after %s is served by the next gate', async (_, bytes) => {
  const storeUrl = process.env.REDIS_URL!;
  const timeouts = { connectMs: 1000, answerMs: 10_000, idleMs: 60_000, bodyMs: 30_000, drainMs: 1 };
  const ending = await startGateHarness(
    (_request, response) => {
      if (bytes > 0) response.write('a'.repeat(bytes));
    },
    { storeUrl, timeouts },
  );
  stops.push(ending.stop);
  const next = await startGateHarness((_request, response) => response.end('all of it'), {
    storeUrl,
    paywall: ending.settings.paywall,
  });
  stops.push(next.stop);

  const headers = ending.pay();
  let received = 0;
  const cut = ask(`${ending.url}/report`, { headers }, (request) => {
    request.on('response', (answer) =>
      answer.on('data', (chunk: Buffer) => {
        received += chunk.length;
      }),
    );
    request.end();
  });
  cut.catch(() => undefined);
  await waitUntil(() => ending.upstream.seen.length === 1 && received >= bytes);
  await ending.gate.stop();
  await expect(cut).rejects.toThrow();
  expect(ending.lines.at(-1)).toMatchObject({ message: 'call', reason: 'gate_ended', outcome: 'paid' });

  const again = await ask(`${next.url}/report`, { headers });
  expect([again.answer.statusCode, again.text]).toEqual([200, 'all of it']);
  expect(ending.api.calls().filter((call) => call === 'redeem')).toHaveLength(1);
});

test('an upstream that resets a paid WebSocket while the store is slow does not end the gate', async () => {
  const redis = new URL(process.env.REDIS_URL!);
  const slow = await startProxy(Number(redis.port));
  stops.push(async () => slow.stop());
  redis.port = String(slow.port);
  const harness = await startGateHarness((_request, response) => response.end('ok'), {
    storeUrl: redis.href,
  });
  stops.push(harness.stop);
  const reset = Promise.withResolvers<void>();
  harness.upstream.server.on('upgrade', (_request, socket) => {
    slow.freeze(true);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    setTimeout(() => {
      (socket as Socket).once('close', () => reset.resolve()).resetAndDestroy();
    }, 50);
  });
  const socket = new WebSocket(`${harness.url.replace('http', 'ws')}/ws`, { headers: harness.pay('/ws') });
  const closed = new Promise((resolve) => socket.on('error', resolve).on('close', resolve));
  await reset.promise;
  // The reset has arrived when a later request has.
  expect((await ask(`${harness.url}/free`)).text).toBe('ok');
  slow.freeze(false);
  await closed;
  await waitUntil(() => harness.lines.some(({ path, outcome }) => path === '/ws' && outcome === 'paid'));
  expect((await ask(`${harness.url}/free`)).text).toBe('ok');
});
