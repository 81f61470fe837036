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

/**
 * So long lines may wait for others: as many are lost when a process is killed, none when it ends
 * or crashes.
 */
const WRITE_WITHIN_MS = 100;
const WARNING = 40;

const stdout = pino.destination({ dest: 1, sync: true, minLength: 8192 });
process.on('exit', () => stdout.flushSync());
let due = false;

/**
 * Lines of a moment in one write: one for each call was 5 % of the gateway's time. What warns goes
 * out at once.
 */
const lines = {
  // Has pino say the level of each.
  [Symbol.for('pino.metadata')]: true,
  lastLevel: 0,
  write(line: string): void {
    stdout.write(line);
    if (this.lastLevel >= WARNING) stdout.flush();
    else if (!due) {
      due = true;
      setTimeout(() => {
        due = false;
        stdout.flush();
      }, WRITE_WITHIN_MS).unref();
    }
  },
};

/** JSON lines on stdout with trace and span id. */
export const createLogger = (service: string, level: string): Logger =>
  pino(
    {
      level,
      base: { service },
      redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
      mixin: () => {
        const context = trace.getActiveSpan()?.spanContext();
        return context === undefined ? {} : { trace_id: context.traceId, span_id: context.spanId };
      },
    },
    lines,
  );
