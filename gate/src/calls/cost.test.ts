import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { type GateHarness, startGateHarness } from '../../../test/support/fixtures/gate.ts';
import { createImpatient, readWithPause } from '../../../test/support/stand-ins/stalls.ts';
import { PUBLIC_URL } from '../../../test/support/stand-ins/vendor-api.ts';
import type { Settings } from '../settings/settings.ts';

/** What answers cost that end before they are read. */
let harness: GateHarness;
const start = async (serve: RequestListener, changed: Partial<Settings> = {}) => {
  harness = await startGateHarness(serve, changed);
  return harness;
};
afterEach(() => harness.stop());

/** Repeats the request until it is no longer in progress. */
const get = async (url: string, headers: Record<string, string>) => {
  for (;;) {
    const response = await fetch(url, { headers });
    const text = await response.text();
    if (!text.includes('payment_in_progress'))
      return { status: response.status, replayed: response.headers.get('x-payment-replayed'), text };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

describe('a buyer who does not read', () => {
  test('a long answer until the upstream gives up has got it', async () => {
    const impatient = createImpatient();
    const { url, gate, pay } = await start(impatient.serve);
    const headers = pay();
    await readWithPause(gate.port, '/report', headers, impatient.gaveUp);
    expect((await get(`${url}/report`, headers)).text).toContain('"reason":"spent"');
    expect(impatient.runs()).toBe(1);
  });

  test('a short answer does not hold its upstream up, and gets it again', async () => {
    // More than fits between the two, and less than the store in memory keeps.
    const length = 22_000_000;
    const ended = Promise.withResolvers<void>();
    let runs = 0;
    const { url, gate, pay } = await start(
      (_request, response) => {
        runs += 1;
        response.end(Buffer.alloc(length), () => ended.resolve());
      },
      { storedBytes: length },
    );
    const headers = pay();
    expect(await readWithPause(gate.port, '/report', headers, ended.promise)).toBeGreaterThan(length);
    const again = await get(`${url}/report`, headers);
    expect([again.replayed, again.text.length, runs]).toEqual(['true', length, 1]);
  });
});

test('the upstream of a stream of events learns at once that its buyer has left, who may ask once more', async () => {
  const heard: PromiseWithResolvers<void>[] = [];
  const { url, gate, lines, pay } = await start((_request, response) => {
    const gone = Promise.withResolvers<void>();
    heard.push(gone);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    response.once('close', () => gone.resolve());
  });
  const headers = pay();
  const sent = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  for (const run of [0, 1]) {
    const socket = connect(gate.port, '127.0.0.1');
    socket.write(`GET /report HTTP/1.1\r\nhost: a\r\n${sent.join('')}\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    // Within the 5 s of a test. An answer that has an end is read on for 30 s.
    await heard[run]!.promise;
    await waitUntil(() => lines.filter(({ reason }) => reason === 'client_disconnected').length === run + 1);
  }
  expect((await get(`${url}/report`, headers)).text).toContain('"reason":"spent"');
  expect(heard).toHaveLength(2);
});

test('a call that may run again is paid unless its upstream fails, also if its buyer leaves', async () => {
  const paid = { max: '150000', price: '50000', tab: { replay: false } };
  const { url, gate, api, upstream, lines } = await start(
    (request, response) => {
      if (request.url === '/search?whole') return response.end('ok');
      response.writeHead(200, { 'content-length': 99 });
      return response.write('beginning', () => {
        if (request.url === '/search?broken') response.destroy();
      });
    },
    { routes: [{ match: 'GET /search', paid }] },
  );
  const { headers } = api.authorize({ resource: `${PUBLIC_URL}/search`, tab: true }, 150_000n);
  await expect(get(`${url}/search?broken`, headers)).rejects.toThrow();
  const socket = connect(gate.port, '127.0.0.1');
  const sent = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /search?left HTTP/1.1\r\nhost: a\r\n${sent.join('')}\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
  await waitUntil(() => lines.filter(({ message }) => message === 'call').length === 2);
  const statuses: number[] = [];
  for (let times = 0; times < 3; times += 1)
    statuses.push((await get(`${url}/search?whole`, headers)).status);
  expect([statuses, upstream.seen.length]).toEqual([[200, 200, 402], 4]);
});
