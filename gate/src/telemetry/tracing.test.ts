import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createTraceServer } from '../../../deploy/local/traces/server.ts';
import type { Trace, TracedSpan } from '../../../deploy/local/traces/store.ts';
import { waitFor, waitUntil } from '../../../test/support/base/wait.ts';
import { ask, type GateHarness, startGateHarness } from '../../../test/support/fixtures/gate.ts';
import type { Tracing } from './call-span.ts';
import { NO_TRACING, startTracing } from './tracing.ts';

/** The spans of calls, at a collector that gets OTLP. */
const collector = createTraceServer();
let tracing: Tracing;
let harness: GateHarness;
const LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };

beforeAll(async () => {
  await collector.listen({ port: 0, host: '127.0.0.1' });
  const { port } = collector.server.address() as AddressInfo;
  Object.assign(process.env, {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}/v1/traces`,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  tracing = await startTracing(process.env, LOG);
});
afterEach(() => harness.stop());
afterAll(async () => {
  await tracing.stop();
  await collector.close();
});

const start = async (...[serve, changed]: Parameters<typeof startGateHarness>) => {
  // The end of a gate must not end the export of the next one.
  harness = await startGateHarness(serve, changed, { ...tracing, stop: async () => {} });
  return harness;
};

const SPAN = 'b7ad6b7169203331';
/** The headers of a caller with a trace, and its spans once its call has ended. */
const newCaller = () => {
  const id = crypto.randomUUID().replaceAll('-', '');
  const spans = async (): Promise<TracedSpan[]> => {
    const { body } = await collector.inject('/traces');
    const all = JSON.parse(body) as Trace[];
    return all.find(({ trace_id }) => trace_id === id)?.spans ?? [];
  };
  return {
    id,
    headers: { traceparent: `00-${id}-${SPAN}-01`, tracestate: 'vendor=1' },
    spans: () => waitFor(spans, (found) => found.some(({ kind }) => kind === 'server')),
  };
};
/** Each span with its parent. */
const arrowsOf = (spans: readonly TracedSpan[]): string[] => {
  const nameOf = ({ kind, name }: TracedSpan) => `${kind} ${name}`;
  return spans.map((span) => {
    const parent = spans.find(({ span_id }) => span_id === span.parent_span_id);
    return `${parent === undefined ? span.parent_span_id : nameOf(parent)} → ${nameOf(span)}`;
  });
};
const REPORT = 'server GET /report';

test('a call continues the trace of its caller, and the upstream that of the gate', async () => {
  const { url, upstream, lines, settings } = await start((_request, response) => response.end('ok'));
  const { id, headers, spans } = newCaller();
  await ask(`${url}/free?secret=1`, { headers });
  const found = await spans();
  expect(new Set(arrowsOf(found))).toEqual(new Set([`${SPAN} → server GET`, 'server GET → client GET']));
  const [server, client] = [
    found.find(({ kind }) => kind === 'server')!,
    found.find(({ kind }) => kind === 'client')!,
  ];
  expect(server.attributes).toMatchObject({
    'http.request.method': 'GET',
    'url.path': '/free',
    'http.response.status_code': 200,
    'quittance.outcome': 'free',
  });
  expect(client.attributes).toMatchObject({
    'server.address': '127.0.0.1',
    'server.port': Number(settings.upstream!.port),
    'url.full': `${settings.upstream!.origin}/free`,
    'http.response.status_code': 200,
  });
  expect(upstream.seen[0]!.headers).toMatchObject({
    traceparent: `00-${id}-${client.span_id}-01`,
    tracestate: 'vendor=1',
  });
  await waitUntil(() => lines.some(({ trace_id }) => trace_id === id));
});

test('an admission has a span, with the calls of the API, and no secret', async () => {
  const { url, pay, settings } = await start((_request, response) => response.end('ok'));
  const { headers, spans } = newCaller();
  const payment = pay();
  await ask(`${url}/report?secret=1`, { headers: { ...headers, ...payment } });
  const found = await spans();
  const arrows = arrowsOf(found);
  for (const arrow of [
    `${SPAN} → ${REPORT}`,
    `${REPORT} → internal admit`,
    'internal admit → client POST',
    `${REPORT} → client GET`,
  ])
    expect([arrow, arrows.includes(arrow)]).toEqual([arrow, true]);
  expect(found.find(({ kind }) => kind === 'server')!.attributes).toMatchObject({
    'http.route': '/report',
    'quittance.outcome': 'paid',
    'quittance.settlement_id': payment['x-settlement-id'],
  });
  const text = JSON.stringify(found);
  for (const secret of ['secret=1', payment['x-settlement-token']!, settings.paywall.serviceKey])
    expect(text.includes(secret)).toBe(false);
});

test('a failure of the upstream is an error of its span and of the call', async () => {
  const { url } = await start((request) => void request.socket.destroy());
  const { headers, spans } = newCaller();
  await ask(`${url}/free`, { headers });
  const found = await spans();
  expect(found.map(({ failed, attributes }) => [failed, attributes['error.type']])).toEqual([
    [true, 'upstream_unreachable'],
    [true, 'upstream_unreachable'],
  ]);
});

test('a call without a trace begins one, which its line names', async () => {
  const { url, lines } = await start((_request, response) => response.end('ok'));
  await ask(`${url}/free`);
  const line = await waitFor(
    () => lines.find(({ message }) => message === 'call'),
    (found) => found !== undefined,
  );
  expect(line!.trace_id).toMatch(/^[0-9a-f]{32}$/);
});

test.each([
  [{}],
  [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a' }],
  [{ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a' }],
  [{ OTEL_METRICS_EXPORTER: 'prometheus' }],
])('with %j there are no spans', async (env) => {
  harness = await startGateHarness((_request, response) => response.end('ok'));
  expect(await startTracing(env as Record<string, string>, LOG)).toBe(NO_TRACING);
});
