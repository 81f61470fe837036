import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { formatValue } from './format.ts';
import { readDashboards } from './panels.ts';
import { filledQuery } from './query.ts';
import { createDashboardServer } from './server.ts';

/** Answers as Prometheus does, with what was asked in the label of the line. */
const asked: URLSearchParams[] = [];
const prometheus = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => {
    const query = new URLSearchParams(body);
    asked.push(query);
    const start = Number(query.get('start'));
    const values = [
      [start, '1.5'],
      [start + Number(query.get('step')), 'NaN'],
    ];
    const metric = { state: 'pending', error_code: 'payment_failed', kind: 'fork' };
    response.end(JSON.stringify({ data: { result: [{ metric, values }] } }));
  });
});
let app: FastifyInstance;
beforeAll(async () => {
  await new Promise<void>((resolve) => prometheus.listen(0, '127.0.0.1', resolve));
  const { port } = prometheus.address() as AddressInfo;
  app = await createDashboardServer(`http://127.0.0.1:${port}`);
});
afterAll(async () => {
  await app.close();
  prometheus.close();
});

const get = (url: string, host = 'localhost') => app.inject({ url, headers: { host } });

test('every panel of every dashboard of an installation is shown, payments first', async () => {
  const dashboards = (await get('/dashboards')).json() as ReturnType<typeof readDashboards>;
  expect(dashboards).toEqual(readDashboards());
  expect(dashboards.map(({ title }) => title)).toEqual([
    'Payments',
    'Gateway',
    'Objectives',
    'Chain',
    'Queues and dependencies',
  ]);
  for (const { uid, panels } of dashboards)
    for (const { id, type, targets } of panels.filter((panel) => panel.type !== 'row')) {
      const answer = await get(`/lines/${uid}/${id}?minutes=60`);
      expect({ id, type, status: answer.statusCode, lines: answer.json().series.length }).toEqual({
        id,
        type,
        status: 200,
        lines: targets.length,
      });
    }
  // No variable of Grafana is left.
  expect(asked.map((query) => query.get('query')).filter((query) => query?.includes('$'))).toEqual([]);
});

test('a line has a value or none for each time, and the labels of its legend', async () => {
  const { uid, panels } = readDashboards()[0]!;
  const panel = panels.find(({ title }) => title === 'Attempts')!;
  const { times, series } = (await get(`/lines/${uid}/${panel.id}?minutes=1`)).json();
  expect(times).toHaveLength(13);
  expect(series).toEqual([{ label: 'pending', values: [1.5, ...Array(12).fill(null)] }]);
});

test('only the panels of the dashboards are queried, and only from this machine', async () => {
  const { uid } = readDashboards()[0]!;
  for (const url of [`/lines/${uid}/9999`, '/lines/other/1', `/lines/${uid}/2?minutes=-1`])
    expect([url, (await get(url)).statusCode]).toEqual([url, 404]);
  expect((await get('/', 'elsewhere.example')).statusCode).toBe(421);
  const page = await get('/');
  expect(page.body).toContain('/page.js');
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
  expect((await get('/page.js')).body).toContain('/lines/');
});

test('a query of a dashboard has its variables filled in', () => {
  expect(filledQuery('sum(rate(x{environment=~"$environment"}[$__rate_interval]))')).toBe(
    'sum(rate(x{environment=~".+"}[20s]))',
  );
});

test.each([
  [0.0123, 's', '12.3 ms'],
  [7, 's', '7 s'],
  [600, 's', '10 min'],
  [0.256, 'percentunit', '25.6 %'],
  [1234, 'short', '1.23 k'],
  [0.05, 'reqps', '0.05/s'],
  [1, 'bool', 'yes'],
  [2_500_000, 'micro_usdc', '2.5 USDC'],
  [999.9, 'sol', '1000 SOL'],
  [null, 's', '–'],
])('%s in %s is shown as %s', (value, unit, expected) => {
  expect(formatValue(value, unit)).toBe(expected);
});
