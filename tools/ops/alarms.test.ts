import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { readAlarms } from './alarms.ts';

/** Reads the alarms from a server that answers in this way. */
const from = async (listener: RequestListener, login = '', place = '') => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    return await readAlarms(`http://${login}127.0.0.1:${port}${place}`, 'test');
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

const alert = (labels: Record<string, string>, state = 'firing') => ({
  labels,
  state,
  activeAt: '2026-11-30T22:00:00Z',
  annotations: {},
  value: '1',
});
const answer =
  (alerts: unknown): RequestListener =>
  (_request, response) =>
    response.end(JSON.stringify({ status: 'success', data: { alerts } }));

test('the alarms that fire in the environment are listed, and those without one', async () => {
  const firing = await from(
    answer([
      alert({ alertname: 'PaymentStuck', severity: 'page', environment: 'test' }),
      alert({ alertname: 'OutboxBlocked', severity: 'page', environment: 'live' }),
      alert({ alertname: 'CapNearlyUsed', environment: 'test' }, 'pending'),
      alert({ alertname: 'ProcessGone' }),
    ]),
  );
  const since = '2026-11-30T22:00:00Z';
  expect(firing).toEqual({
    known: true,
    firing: [
      { name: 'PaymentStuck', severity: 'page', environment: 'test', since },
      { name: 'ProcessGone', severity: 'none', environment: null, since },
    ],
  });
  expect(await from(answer([]))).toEqual({ known: true, firing: [] });
});

test('user and password go into a header, and the path of a proxy is kept', async () => {
  const seen: (string | undefined)[] = [];
  await from(
    (request, response) => {
      seen.push(request.url, request.headers.authorization);
      answer([])(request, response as never);
    },
    'jane:p%40ss@',
    '/prometheus/',
  );
  expect(seen).toEqual(['/prometheus/api/v1/alerts', `Basic ${Buffer.from('jane:p@ss').toString('base64')}`]);
});

test.each<[string, RequestListener, RegExp]>([
  ['refuses', (_request, response) => response.writeHead(401).end(), /answers 401/],
  ['is another page', (_request, response) => response.end('<html>'), /does not answer/],
  ['has no alerts', (_request, response) => response.end('{"data":{}}'), /does not answer/],
  [
    'redirects',
    (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
    /does not answer/,
  ],
  ['hangs', () => {}, /does not answer: TimeoutError/],
])('a server that %s is named, and its password is not', async (_what, listener, why) => {
  const alarms = await from(listener, 'jane:secret@');
  expect(alarms).toEqual({ known: false, why: expect.stringMatching(why) });
  expect(JSON.stringify(alarms)).not.toContain('secret');
});

test('without an address, or with a wrong one, it says what to set', async () => {
  expect(await readAlarms(undefined, 'test')).toMatchObject({
    known: false,
    why: expect.stringMatching(/PROMETHEUS_URL/),
  });
  expect(await readAlarms('prometheus', 'test')).toMatchObject({
    known: false,
    why: 'PROMETHEUS_URL is not a URL',
  });
});
