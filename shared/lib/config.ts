import { z } from 'zod';
import { Environment } from '../contract/primitives.ts';
import { MAX_CELL } from './cell.ts';
import { plainConnections } from './transport.ts';

/** A seed of a user of the bus. `npm run ops -- nkey` makes one. */
export const NkeySeed = z.string().regex(/^SU[A-Z2-7]{56}$/, "must be the seed of a user's NKEY");

/** The variables of every process. No variable can disable a check, a limit or a fault. */
export const commonConfig = {
  HTTP_HOST: z.string().default('0.0.0.0'),
  HTTP_PORT: z.coerce.number().int().min(0).max(65535),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
  // `pretty` is for a terminal. A collector of logs reads JSON.
  LOG_FORMAT: z.enum(['json', 'pretty']).default('json'),
  /**
   * The certificates of the authority that signs those of NATS, Redis and the mail server (PEM).
   * For Postgres the URL has `sslrootcert`. Default: the authorities that Node knows.
   */
  TLS_CA_FILE: z.string().min(1).optional(),
  // The standard variables that enable OpenTelemetry. The SDK reads the others (telemetry.ts).
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_METRICS_EXPORTER: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.string().optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().optional(),
};

/**
 * A URL of Postgres. A character like `#` or `%` in a password that is not percent-encoded would
 * end the password, or make another host of it, and no driver says so.
 */
const DatabaseUrl = z.string().refine(
  (text) => {
    try {
      const { hash, password } = new URL(text);
      return hash === '' && decodeURIComponent(password) !== null;
    } catch {
      return false;
    }
  },
  {
    error:
      'must be postgres://user:password@host/database; percent-encode the password (@ is %40, # is %23, % is %25)',
  },
);

/** The additional variables of a service of one environment. */
export const serviceConfig = {
  ...commonConfig,
  ENVIRONMENT: Environment,
  /** The number of this cell, which its ids and keys carry (docs/scale.md). It never changes. */
  CELL: z.coerce.number().int().min(0).max(MAX_CELL).default(0),
  /** `tls://` or `nats://`. */
  NATS_URL: z.string(),
  NATS_NKEY_SEED: NkeySeed,
  /** With `?sslmode=verify-full&sslrootcert=<file>` for an encrypted connection. */
  POSTGRES_URL: DatabaseUrl,
  /** A streaming replica of it, for lists and sums (docs/adr/0086-read-replicas.md). */
  POSTGRES_REPLICA_URL: DatabaseUrl.optional(),
  POSTGRES_POOL: z.coerce.number().int().min(1).max(100).default(10),
};

/** A variable that contains JSON; `.pipe(schema)` describes it. An error never repeats the text. */
export const JsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON' });
    return z.NEVER;
  }
});

/**
 * Comma separated origins as a browser writes them: the scheme, the host, and a port if it is not
 * the default of the scheme.
 */
export const OriginList = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine(
    (origins) => origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
    'must be origins, comma separated',
  );

/** `127.0.0.1` of `127.0.0.1:53`, and `::1` of `[::1]:53`. */
const hostOf = (address: string): string =>
  address.replace(/^\[(.+)\](:\d{1,5})?$/, '$1').replace(/^([\d.]+):\d{1,5}$/, '$1');

/** Comma separated addresses with an optional port: `127.0.0.1:5353`, `[::1]:5353`. */
export const AddressList = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine(
    (parts) => parts.every((part) => z.ipv4().or(z.ipv6()).safeParse(hostOf(part)).success),
    'must be addresses with an optional port, comma separated',
  );

/**
 * Secrets of 32 bytes as base64url, comma separated. The first one writes, and what any of them has
 * written is read, so that a secret is replaced without ending what it made
 * (docs/signing-keys.md, Secrets of services).
 */
export const SecretList = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine(
    (parts) =>
      parts.every((part) => /^[A-Za-z0-9_-]{43}$/.test(part)) && new Set(parts).size === parts.length,
    'must be different secrets of 32 bytes as base64url, comma separated',
  )
  .transform((parts): readonly Buffer[] => parts.map((part) => Buffer.from(part, 'base64url')));

/** What is wrong with a variable. It never repeats the value. */
export type Issue = { path: string; message: string };

/**
 * Ends the process for wrong variables. The lines are JSON like every other line of a process, and
 * without a logger, which needs a valid LOG_LEVEL.
 */
const endFor = (issues: readonly Issue[]): never => {
  for (const { path, message } of issues)
    console.error(JSON.stringify({ level: 60, time: Date.now(), msg: `config: ${path}: ${message}` }));
  process.exit(78); // EX_CONFIG of sysexits.h
};

/**
 * Parses the environment once, at the start. On an error it prints the names of the variables,
 * never their values, and ends the process, because a service with an incomplete configuration must
 * not start.
 */
export const loadConfig = <S extends z.ZodObject>(
  schema: S,
  env: NodeJS.ProcessEnv = process.env,
): z.infer<S> => {
  const result = schema.safeParse(env);
  const plain = result.success ? plainConnections(result.data) : [];
  if (result.success && plain.length === 0) return result.data;
  const issues = result.success
    ? plain
    : result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  return endFor(issues);
};

/** The same for settings whose names no schema can list. */
export const loadSettings = <T>(
  parse: (env: NodeJS.ProcessEnv) => { value?: T; issues: readonly Issue[] },
): T => {
  const { value, issues } = parse(process.env);
  return value ?? endFor(issues);
};
