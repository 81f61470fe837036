import { DiagLogLevel, diag } from '@opentelemetry/api';
import type { Logger } from './logger.ts';
import type { Reporter } from './metric.ts';
import { beginMetrics } from './metrics.ts';
import { build } from './version.ts';

/** The standard variables that enable an export. The SDK reads these and all others. */
export type TelemetryConfig = {
  ENVIRONMENT?: string;
  OTEL_SERVICE_NAME?: string | undefined;
  OTEL_METRICS_EXPORTER?: string | undefined;
  OTEL_TRACES_EXPORTER?: string | undefined;
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
};
export type Telemetry = { stop: () => Promise<void> };

/**
 * Whether a signal is exported. By default the SDK would send it to a collector on this machine.
 */
const wanted = (exporter: string | undefined, endpoint: string | undefined): boolean =>
  exporter === undefined || exporter === '' ? (endpoint ?? '') !== '' : exporter !== 'none';

/**
 * Starts the OpenTelemetry SDK if the OTEL_* variables name an exporter:
 * `OTEL_METRICS_EXPORTER=prometheus` opens the Prometheus page (OTEL_EXPORTER_PROMETHEUS_HOST,
 * _PORT), and `OTEL_EXPORTER_OTLP_ENDPOINT` sends metrics and traces to a collector. Otherwise its
 * code is not loaded. For the Prometheus page alone, only a small part is loaded. Errors of
 * telemetry are logged and never end a service.
 */
export const startTelemetry = async (
  service: Reporter,
  config: TelemetryConfig,
  logger: Logger,
): Promise<Telemetry> => {
  const all = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  const metrics = wanted(config.OTEL_METRICS_EXPORTER, config.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT ?? all);
  const traces = wanted(config.OTEL_TRACES_EXPORTER, config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? all);
  if (!metrics && !traces) return { stop: async () => {} };

  const say = (level: 'error' | 'warn') => (message: string, details: unknown) =>
    logger[level]({ err: details }, `telemetry: ${message}`);
  const silent = () => {};
  diag.setLogger(
    { error: say('error'), warn: say('warn'), info: silent, debug: silent, verbose: silent },
    DiagLogLevel.WARN,
  );
  const about = {
    'service.name': config.OTEL_SERVICE_NAME || service,
    'service.namespace': 'quittance',
    'service.version': build.version,
    ...(config.ENVIRONMENT === undefined ? {} : { 'deployment.environment.name': config.ENVIRONMENT }),
  };
  const stop =
    !traces && config.OTEL_METRICS_EXPORTER === 'prometheus'
      ? (await import('./telemetry-prometheus.ts')).startPrometheus(about)
      : (await import('./telemetry-sdk.ts')).startSdk(about, { metrics, traces });
  if (metrics) beginMetrics(service, config.ENVIRONMENT);
  return { stop };
};
