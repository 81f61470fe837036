import { afterAll, expect, test } from '@jest/globals';
import { metrics, trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { startTelemetry, type TelemetryConfig } from './telemetry.ts';

const logger = pino({ level: 'silent' });
const untouched = metrics.getMeterProvider();
const tracing = () => trace.getTracer('test').startSpan('test').isRecording();
afterAll(() => {
  metrics.disable();
  trace.disable();
});

/**
 * The order matters: a process starts its telemetry once, so the case that starts an export is
 * last.
 */
test.each<[string, TelemetryConfig, string]>([
  ['no variable', {}, ''],
  ['empty variables, as in a manifest', { OTEL_METRICS_EXPORTER: '', OTEL_EXPORTER_OTLP_ENDPOINT: '' }, ''],
  [
    'an endpoint with the SDK disabled',
    {
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_TRACES_EXPORTER: 'none',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    },
    '',
  ],
  [
    'an endpoint only for traces',
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces' },
    'traces',
  ],
])('with %s, %j exports "%s"', async (_name, config, expected) => {
  const telemetry = await startTelemetry('quote', config, logger);
  const started = [metrics.getMeterProvider() === untouched ? [] : ['metrics'], tracing() ? ['traces'] : []];
  expect(started.flat().join()).toBe(expected);
  await telemetry.stop();
});
