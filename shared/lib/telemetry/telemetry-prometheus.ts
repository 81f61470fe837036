import { type Attributes, metrics } from '@opentelemetry/api';
import { getNumberFromEnv, getStringFromEnv } from '@opentelemetry/core';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import {
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

/**
 * Opens the Prometheus page at OTEL_EXPORTER_PROMETHEUS_HOST and _PORT without the rest of the SDK,
 * which needs 4 to 9 MB per service and a context in every call.
 * @returns a function that closes the page
 */
export const startPrometheus = (about: Attributes): (() => Promise<void>) => {
  const host = getStringFromEnv('OTEL_EXPORTER_PROMETHEUS_HOST');
  const port = getNumberFromEnv('OTEL_EXPORTER_PROMETHEUS_PORT');
  // Without a value, the exporter uses the default of the specification.
  const exporter = new PrometheusExporter({
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
  });
  // As in telemetry-sdk.ts.
  const detected = detectResources({ detectors: [envDetector, serviceInstanceIdDetector] });
  const provider = new MeterProvider({
    resource: resourceFromAttributes(about).merge(detected),
    readers: [exporter],
  });
  metrics.setGlobalMeterProvider(provider);
  return () => provider.shutdown();
};
