import { trace } from '@opentelemetry/api';
import { pino } from 'pino';

export type Logger = pino.Logger;

/** Field names that may hold a secret. Log calls name what they log; this is the net under them. */
const SECRET_FIELDS = [
  'authorization',
  'api_key',
  'token',
  'quote_token',
  'settlement_token',
  'access_token',
  'refresh_token',
  'transaction',
  'password',
  'secret',
];

/** JSON lines on stdout with trace and span id. */
export const createLogger = (service: string, level: string): Logger =>
  pino({
    level,
    base: { service },
    redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
    mixin: () => {
      const context = trace.getActiveSpan()?.spanContext();
      return context === undefined ? {} : { trace_id: context.traceId, span_id: context.spanId };
    },
  });
