import { afterEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { ask, type GateHarness, startGateHarness } from '../../../test/support/fixtures/gate.ts';

let harness: GateHarness;
afterEach(() => harness.stop());
const start = async (...args: Parameters<typeof startGateHarness>) => {
  harness = await startGateHarness(...args);
  return harness;
};
const textAt = async (url: string) => (await fetch(url)).text();

describe('operations', () => {
  test('the gate is ready while it serves, and its store and its upstream answer', async () => {
    const { operations, upstream, gate, url } = await start((_request, response) => response.end('ok'));
    expect(await textAt(`${operations}/healthz`)).toBe('{"status":"ok"}');
    expect(JSON.parse(await textAt(`${operations}/readyz`))).toEqual({
      ...{ status: 'ok', serving: true, store: true, upstream: true },
    });
    await upstream.stop();
    await ask(url);
    const response = await fetch(`${operations}/readyz`);
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: 'not_ready', serving: true, store: true, upstream: false },
    ]);
    expect(gate.operationsPort).toBeGreaterThan(0);
  });

  test('each call has one line with its trace, and is counted', async () => {
    const { url, operations, lines, pay, upstream } = await start((_request, response) => response.end('ok'));
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await ask(`${url}/a?secret=1`, { headers: { traceparent } });
    await ask(`${url}/report`, { headers: pay() });
    await waitUntil(() => lines.filter(({ message }) => message === 'call').length === 2);
    const [free, bought] = lines.filter(({ message }) => message === 'call');
    expect(free).toMatchObject({
      ...{ path: '/a', outcome: 'free', status: 200, upstream_status: 200, bytes: 2 },
      trace_id: traceparent.slice(3, 35),
    });
    const payment_id = expect.stringMatching(/^stl_/);
    expect(bought).toMatchObject({ route: 'GET,POST /report', outcome: 'paid', amount: '50000', payment_id });
    expect(upstream.seen[0]!.headers.traceparent).toBe(traceparent);
    const metrics = await textAt(`${operations}/metrics`);
    expect(metrics).toContain('quittance_gate_calls_total{route="none",outcome="free",status="2"} 1');
    expect(metrics).toContain(
      'quittance_gate_calls_total{route="GET,POST /report",outcome="paid",status="2"} 1',
    );
    expect(metrics).toContain('quittance_gate_open_calls 0');
  });
});

test('a reload changes prices without a lost call, and wrong settings change nothing', async () => {
  const next = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { gate, settings, url } = await start(async (request, response) => {
    begun.resolve();
    if (request.url === '/slow') await next.promise;
    response.end('ok');
  });
  const slow = ask(`${url}/slow`);
  await begun.promise;
  const paid = { price: '70000' };
  gate.reload({ ...settings, upstream: new URL(settings.upstream!), routes: [{ match: 'GET /new', paid }] });
  expect((await ask(`${url}/report`)).answer.statusCode).toBe(200);
  const asked = await ask(`${url}/new`);
  expect([asked.answer.statusCode, JSON.parse(asked.text).quote_amount]).toEqual([402, '70000']);
  expect(() => gate.reload({ ...settings, routes: [{ match: 'GET new', paid }] })).toThrow(
    'match: use methods',
  );
  expect((await ask(`${url}/new`)).answer.statusCode).toBe(402);
  next.resolve();
  expect((await slow).text).toBe('ok');
});

test('a reload with other settings keeps the failed deliveries that are in memory', async () => {
  let runs = 0;
  const { gate, settings, url, pay, api } = await start((_request, response) => {
    runs += 1;
    response.writeHead(runs === 1 ? 500 : 200).end(`run ${runs}`);
  });
  const headers = pay();
  expect((await ask(`${url}/report`, { headers })).answer.statusCode).toBe(500);
  const dialects = ['mpp'] as const;
  const offerSecret = 'a secret of thirty-two characters!!';
  gate.reload({ ...settings, storedBytes: 5000, dialects, offerSecret });
  expect((await ask(`${url}/report`, { headers })).text).toBe('run 2');
  gate.reload(settings);
  const stored = await ask(`${url}/report`, { headers });
  expect([stored.text, stored.answer.headers['x-payment-replayed']]).toEqual(['run 2', 'true']);
  expect(api.calls().filter((call) => call === 'redeem')).toHaveLength(1);
});

test('a gate that ends serves the open calls to their end, and no further ones', async () => {
  const [begun, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { gate, url, operations } = await start(async (_request, response) => {
    response.write('all ');
    begun.resolve();
    await next.promise;
    response.end('of it');
  });
  const open = ask(url);
  await begun.promise;
  const stopped = gate.stop();
  await expect(ask(url)).rejects.toThrow('ECONNREFUSED');
  expect(JSON.parse(await textAt(`${operations}/readyz`))).toMatchObject({ serving: false });
  next.resolve();
  expect((await open).text).toBe('all of it');
  await stopped;
});
