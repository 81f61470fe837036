import { trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { hasCause } from '../error-causes.ts';
import { isUnavailable } from '../unavailable.ts';
import { prettyLine } from './pretty-line.ts';
import { build } from './version.ts';

export type Logger = pino.Logger;
/** `json` for programs, `pretty` for people (shared/lib/telemetry/pretty-line.ts). */
export type LogFormat = 'json' | 'pretty';

/**
 * Names of fields that may contain a secret. Log calls list their fields, and this list is a second
 * protection.
 */
const SECRET_FIELDS = [
  'authorization',
  'api_key',
  'token',
  'quote_token',
  'settlement_token',
  'access_token',
  'refresh_token',
  'receipt',
  'receipt_url',
  'transaction',
  'password',
  'secret',
];

/**
 * How long a line may be buffered. When a process is killed, the lines of this time are lost. None
 * is lost when it ends or crashes.
 */
const WRITE_WITHIN_MS = 100;
const WARNING = 40;

const stdout = pino.destination({ dest: 1, sync: true, minLength: 8192 });
process.on('exit', () => stdout.flushSync());
let due = false;

/** Whether stdout is a terminal with colours; NO_COLOR turns them off. */
const hasColours = (): boolean => process.stdout.isTTY === true && process.stdout.hasColors();

/**
 * Buffers lines, so that one write takes many: a write for each line took 5 % of the CPU time of
 * the gateway. Warnings and errors are written at once.
 */
const linesIn = (format: LogFormat) => ({
  // Has pino pass the level of each line.
  [Symbol.for('pino.metadata')]: true,
  lastLevel: 0,
  write(line: string): void {
    stdout.write(format === 'json' ? line : `${prettyLine(line, { colour: hasColours() })}\n`);
    if (this.lastLevel >= WARNING) stdout.flush();
    else if (!due) {
      due = true;
      setTimeout(() => {
        due = false;
        stdout.flush();
      }, WRITE_WITHIN_MS).unref();
    }
  },
});

/** The errors of chain-submitter for a provider that does not answer or refuses. */
const PROVIDER_ERRORS = new Set(['RpcUnavailable', 'RpcRefused']);

/** Names of what failed. Other fields of an error hold rows, values and texts of servers. */
const ERROR_FIELDS = ['code', 'table', 'column', 'constraint'] as const;

/** A field of an error, or of the first of its causes that has it. */
const fieldOf = (error: Error, field: (typeof ERROR_FIELDS)[number]): string | undefined => {
  let found: string | undefined;
  hasCause(error, (cause) => {
    const value = (cause as Partial<Record<typeof field, unknown>>)[field];
    if (typeof value === 'string') found = value;
    return found !== undefined;
  });
  return found;
};

/**
 * Whether the message of an error quotes what it was about: those of Postgres about values (class
 * 22, of which slonik passes one on without its code), and those of JavaScript about a text that it
 * cannot parse.
 */
const quotesValue = (error: Error): boolean =>
  hasCause(
    error,
    (cause) =>
      (typeof cause.code === 'string' && /^22[0-9A-Z]{3}$/.test(cause.code)) ||
      cause.constructor.name === 'InvalidInputError' ||
      cause instanceof SyntaxError,
  );

/** The frames of a stack, without the messages before them. */
const framesOf = (stack: string): string =>
  stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n');

/**
 * The fields of a logged error: its type, messages, stack and those of the list. An unavailable
 * dependency is expected and is logged again with each attempt, so its stack is left out.
 */
const errorFields = (error: Error): object => {
  const isExpected = isUnavailable(error) || hasCause(error, ({ name }) => PROVIDER_ERRORS.has(name));
  const { type, message, stack } = pino.stdSerializers.err(error);
  if (type === undefined) return { type: typeof error };
  const named = ERROR_FIELDS.map((field) => [field, fieldOf(error, field)] as const);
  const isQuoting = quotesValue(error);
  const text = isQuoting ? 'a value or text was refused; the message quotes it, so it is left out' : message;
  const fields = {
    type,
    message: text,
    ...Object.fromEntries(named.filter(([, value]) => value !== undefined)),
  };
  return isExpected ? fields : { ...fields, stack: isQuoting ? framesOf(stack) : stack };
};

/** Lines on stdout with trace and span id: JSON, unless people read them. */
export const createLogger = (service: string, level: string, format: LogFormat = 'json'): Logger =>
  pino(
    {
      level,
      base: { service, version: build.version },
      serializers: { err: errorFields },
      redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
      mixin: () => {
        const context = trace.getActiveSpan()?.spanContext();
        return context === undefined ? {} : { trace_id: context.traceId, span_id: context.spanId };
      },
    },
    linesIn(format),
  );
