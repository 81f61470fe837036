import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { metrics } from '@opentelemetry/api';
import { pino } from 'pino';
import { count } from './metrics.ts';
import { startTelemetry } from './telemetry.ts';

afterAll(() => metrics.disable());

test('metrics reach a collector over OTLP with the names of the catalog and the labels of their process', async () => {
  const received: { path: string; body: string }[] = [];
  const collector = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push({ path: request.url ?? '', body });
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/metrics`;
  const variables = {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json',
  };
  Object.assign(process.env, variables);
  const logger = pino({ level: 'silent' });
  const telemetry = await startTelemetry('quote', { ...variables, ENVIRONMENT: 'test' }, logger);
  count('quittance_quotes_total', 3);
  await telemetry.stop();
  await new Promise((resolve) => collector.close(resolve));

  expect(received.map(({ path }) => path)).toContain('/v1/metrics');
  const exported = received.map(({ body }) => body).join('');
  for (const part of ['"quittance_quotes_total"', '"quittance"', '"service_name"', '"environment"'])
    expect({ [part]: exported.includes(part) }).toEqual({ [part]: true });
});
