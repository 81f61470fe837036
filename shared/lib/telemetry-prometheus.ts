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
 * A page to scrape and nothing else, as the SDK makes it of OTEL_EXPORTER_PROMETHEUS_HOST and
 * _PORT, without the rest of the SDK: that takes 4 to 9 MB of a service, and a context of its own
 * in every call.
 * @returns what closes it
 */
export const startPrometheus = (about: Attributes): (() => Promise<void>) => {
  const host = getStringFromEnv('OTEL_EXPORTER_PROMETHEUS_HOST');
  const port = getNumberFromEnv('OTEL_EXPORTER_PROMETHEUS_PORT');
  // Where one is not set, the exporter has the default of the specification.
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
