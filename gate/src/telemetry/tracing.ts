import { SettingsError } from '../ground/yaml-file.ts';
import type { GateLog } from './call-log.ts';
import type { CallSpan, Tracing } from './call-span.ts';

/**
 * Spans of calls, for a collector that the standard variables of OpenTelemetry name. Without them
 * nothing of it is loaded.
 */

const NO_SPAN: CallSpan = {
  traceId: null,
  admit: (run) => run(),
  upstream: (_origin, _method, _path, headers) => ({ headers, end: () => undefined }),
  end: () => undefined,
};
export const NO_TRACING: Tracing = { begin: () => NO_SPAN, fetch: undefined, stop: async () => {} };

type Environment = Readonly<Record<string, string | undefined>>;

/** By default the SDK would send to a collector on this machine. */
const isWanted = (env: Environment): boolean => {
  const { OTEL_TRACES_EXPORTER: exporter = '', OTEL_SDK_DISABLED: disabled } = env;
  if (disabled === 'true') return false;
  if (exporter !== '') return exporter !== 'none';
  return (env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT ?? '') !== '';
};

/**
 * Starts the export of spans, if the environment names a collector.
 * @throws SettingsError if the packages of OpenTelemetry are not there
 */
export const startTracing = async (env: Environment, log: GateLog): Promise<Tracing> => {
  if (!isWanted(env)) return NO_TRACING;
  try {
    const { startSpans } = await import('./spans.ts');
    return startSpans(env.OTEL_SERVICE_NAME || 'quittance-gate', log);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new SettingsError(
      'the variables OTEL_* name a collector, and OpenTelemetry is not installed: npm install @opentelemetry/sdk-node@0.301.0',
    );
  }
};
