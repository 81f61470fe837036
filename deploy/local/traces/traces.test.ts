import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { createTraceServer } from './server.ts';
import { createTraceStore, Export, treeOf } from './store.ts';

const span = (spanId: string, parentSpanId: string, name: string, startedMs: number, more: object = {}) => ({
  traceId: 'a'.repeat(32),
  spanId,
  parentSpanId,
  name,
  kind: 2,
  startTimeUnixNano: `${startedMs}000000`,
  endTimeUnixNano: `${startedMs + 5}000000`,
  ...more,
});
const exported = (service: string, spans: object[]) => ({
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
      scopeSpans: [{ spans }],
    },
  ],
});

let app: FastifyInstance;
beforeEach(() => {
  app = createTraceServer();
});
afterEach(() => app.close());
const get = (url: string, headers: Record<string, string> = { host: '127.0.0.1:4318' }) =>
  app.inject({ url, headers });
const send = (payload: object) =>
  app.inject({ method: 'POST', url: '/v1/traces', headers: { host: 'localhost:4318' }, payload });

test('a trace whose spans arrive in several exports, children first, is one tree', () => {
  const store = createTraceStore();
  store.add(
    Export.parse(exported('quote', [span('3', '2', 'INSERT quotes', 1030), span('2', '1', 'process', 1020)])),
  );
  store.add(
    Export.parse(
      exported('gateway', [span('4', '1', 'evalsha', 1010), span('1', '', 'POST /v1/quote', 1000)]),
    ),
  );
  const names = (branches: ReturnType<typeof treeOf>): unknown =>
    branches.map(({ name, children }) => (children.length === 0 ? name : [name, names(children)]));
  expect(names(treeOf(store.list()[0]!))).toEqual([
    ['POST /v1/quote', ['evalsha', ['process', ['INSERT quotes']]]],
  ]);
});

test('the pages show received spans and execute nothing that they contain', async () => {
  const hostile = '<script>alert(1)</script>';
  const attributes = [
    { key: 'http.response.status_code', value: { intValue: 503 } },
    { key: 'quittance.status', value: { stringValue: hostile } },
  ];
  expect(
    (await send(exported(hostile, [span('1', '', hostile, 1000, { attributes, status: { code: 2 } })])))
      .statusCode,
  ).toBe(200);
  for (const url of ['/', `/trace/${'a'.repeat(32)}`]) {
    const page = await get(url);
    expect(page.body).toContain('alert(1)');
    expect(page.body).not.toContain('<script');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  }
  expect((await get('/')).body).toContain('503');
  expect((await get('/traces')).json()).toHaveLength(1);
});

test('a trace is found by its id, by the id of an object in a span, and by nothing else', async () => {
  const attributes = [{ key: 'quittance.settlement_id', value: { stringValue: 'stl_1' } }];
  await send(
    exported('settlement', [
      span('1', '', 'paid', 1000),
      span('2', '1', 'issue', 1001, { attributes }),
      span('3', '', 'another', 1002, { traceId: 'b'.repeat(32) }),
    ]),
  );
  for (const id of ['stl_1', 'a'.repeat(32), '%20stl_1']) {
    const { body } = await get(`/?id=${id}`);
    expect([body.includes('paid'), body.includes('another')]).toEqual([true, false]);
  }
  expect((await get('/?id=stl')).body).toContain('No trace has this id');
  expect((await get('/?id=%22%3E%3Cscript%3E')).body).not.toContain('<script');
  expect((await get('/')).headers['content-security-policy']).toContain("form-action 'self'");
});

test('an empty list, invalid input and another host name have clear answers', async () => {
  expect((await get('/')).body).toContain('No trace yet');
  expect((await get('/trace/unknown')).statusCode).toBe(404);
  expect((await send({ resourceSpans: 'none' })).statusCode).toBe(400);
  expect((await get('/traces', { host: 'rebound.example.com' })).statusCode).toBe(421);
});

test('only the newest traces are kept', () => {
  const store = createTraceStore({ traces: 2, spansEach: 1 });
  for (const traceId of ['a', 'b', 'c'])
    store.add(
      Export.parse(
        exported('quote', [span('1', '', traceId, 1, { traceId }), span('2', '1', 'x', 2, { traceId })]),
      ),
    );
  expect(store.list().map(({ trace_id, spans }) => [trace_id, spans.length])).toEqual([
    ['c', 1],
    ['b', 1],
  ]);
});
