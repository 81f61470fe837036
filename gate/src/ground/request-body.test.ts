import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { paymentOn, type Rail } from '../../../test/support/actors/incoming-buyers.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { type GateHarness, startGateHarness, textOf } from '../../../test/support/fixtures/gate.ts';
import { PUBLIC_URL } from '../../../test/support/stand-ins/vendor-api.ts';
import type { Settings } from '../settings/settings.ts';

/** Whose bodies a gate reads, how many of them it holds, and for how long. */
let harness: GateHarness;
const sockets: Socket[] = [];
const start = async (changed: Partial<Settings> = {}) => {
  harness = await startGateHarness(
    async (request, response) => void response.end(`got ${(await textOf(request).catch(() => '')).length}`),
    { dialects: ['x402', 'mpp'], offerSecret: 'a secret of thirty-two characters!!', ...changed },
  );
  return harness;
};
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await harness.stop();
});

type Headers_ = Readonly<Record<string, string>>;
/** Sends the head of a POST, and nothing of its body. */
const post = (path: string, length: number, headers: Headers_ = {}) => {
  const socket = connect(harness.gate.port, '127.0.0.1');
  sockets.push(socket.on('error', () => undefined));
  let said = '';
  socket.on('data', (chunk) => {
    said += String(chunk);
  });
  const lines = Object.entries({ host: 'x', 'content-length': length, ...headers });
  socket.write(
    `POST ${path} HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\nconnection: close\r\n\r\n`,
  );
  return { socket, closed: once(socket, 'close').then(() => said), said: () => said };
};
const expecting = (headers: Headers_) => ({ ...headers, expect: '100-continue' });

describe('a body is read for a payment that pays', () => {
  const unpaid: [string, () => Headers_][] = [
    ['no payment', () => ({})],
    ['an id that is none', () => ({ 'x-settlement-id': 'stl_1', 'x-settlement-token': 'a' })],
    ['a token that nobody has signed', () => ({ ...harness.pay(), 'x-settlement-token': 'a.b.c' })],
    ['a payment for another address', () => harness.pay('/other')],
    ['a payment of less', () => harness.api.pay({ resource: `${PUBLIC_URL}/report` }, { amount: '49999' })],
    ['an invalid payment of x402', () => ({ 'payment-signature': 'a' })],
    ['an invalid payment of MPP', () => ({ authorization: 'Payment a' })],
    ['a header of x402 that is not served', () => ({ 'x-payment': 'x' })],
    ['a cookie that is no payment', () => ({ cookie: 'quittance_0=s~a' })],
  ];
  test.each(unpaid)('and not with %s', async (_name, headers) => {
    await start();
    expect(await post('/report', 1_000_000, headers()).closed).toMatch(/^HTTP\/1\.1 402 /);
    expect(harness.upstream.seen).toEqual([]);
  });

  test.each<Rail>(['x402', 'mpp'])('of %s, with a body and with a range', async (rail) => {
    await start();
    for (const [headers, body] of [
      [{}, 'a body'],
      [{ range: 'bytes=0-1' }, ''],
    ] as const) {
      const send = (more: object = {}) =>
        fetch(`${harness.url}/report`, { method: 'POST', body, headers: { ...headers, ...more } });
      const asked = await send();
      const payment = paymentOn[rail](asked.headers) as Headers_;
      const paid = await send(payment);
      expect([paid.status, await paid.text()]).toEqual([200, `got ${body.length}`]);
      // The same payment buys no other body.
      const other = await fetch(`${harness.url}/report`, {
        method: 'POST',
        body: `${body}!`,
        headers: { ...headers, ...payment },
      });
      expect(other.status).toBe(402);
    }
  });
});

test('together they are held up to a limit, and a call gives its part back', async () => {
  await start({ heldBytes: 1000, hashBytes: 1000 });
  const waiting = post('/report', 800, expecting(harness.pay()));
  await waitUntil(() => waiting.said().includes('100 Continue'));
  waiting.socket.write('a'.repeat(700));
  /** A call that needs more room than is left. */
  const next = async (): Promise<string> => {
    const { socket, closed } = post('/report', 400, harness.pay());
    socket.write('b'.repeat(400));
    return closed;
  };
  let refused = '';
  await waitUntil(async () => {
    refused = await next();
    return refused.startsWith('HTTP/1.1 503');
  });
  expect(refused).toContain('"reason":"bodies"');
  expect(refused).toMatch(/retry-after: 5\r\n/i);
  waiting.socket.write('a'.repeat(100));
  expect(await waiting.closed).toContain('got 800');
  expect(await next()).toContain('got 400');
});

describe('a body that comes too slowly is ended', () => {
  const timeouts = { connectMs: 1000, answerMs: 10_000, idleMs: 60_000, bodyMs: 100, drainMs: 5000 };

  test('on its way to the upstream, which is free again', async () => {
    await start({ timeouts });
    const { socket, closed } = post('/free', 10);
    socket.write('a');
    expect(await closed).toBe('');
    await waitUntil(() => harness.upstream.seen.length === 1);
    await waitUntil(() => (harness.upstream.seen[0] as IncomingMessage).destroyed);
  });

  test('while it is held for a payment, which is not used up', async () => {
    await start({ timeouts });
    const headers = harness.pay();
    const { socket, closed } = post('/report', 10, headers);
    socket.write('a');
    expect(await closed).toBe('');
    const again = await fetch(`${harness.url}/report`, { method: 'POST', headers, body: 'a' });
    expect(await again.text()).toBe('got 1');
  });
});

test('further connections than the limit are closed', async () => {
  await start({ connections: 1 });
  const { socket, said } = post('/free', 10);
  socket.write('a');
  await waitUntil(() => harness.upstream.seen.length === 1);
  expect(await post('/free', 0).closed).toBe('');
  socket.write('a'.repeat(9));
  await waitUntil(() => said().includes('got 10'));
});
