import { z } from 'zod';
import { Environment } from '../contract/primitives.ts';

/**
 * What every process reads. Times are the services' own; nothing here can turn a check, a limit or
 * a fault off.
 */
export const commonConfig = {
  HTTP_HOST: z.string().default('0.0.0.0'),
  HTTP_PORT: z.coerce.number().int().min(0).max(65535),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
  // The standard variables of OpenTelemetry that switch it on; the others are the SDK's to read
  // (telemetry.ts).
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_METRICS_EXPORTER: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.string().optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().optional(),
};

/** What a service of one environment reads besides. */
export const serviceConfig = {
  ...commonConfig,
  ENVIRONMENT: Environment,
  NATS_URL: z.string(),
  NATS_USER: z.string(),
  NATS_PASSWORD: z.string(),
  POSTGRES_URL: z.string(),
  POSTGRES_POOL: z.coerce.number().int().min(1).max(100).default(10),
};

/**
 * A variable that holds JSON; what it must be is said by `.pipe(schema)`. The text itself is never
 * repeated.
 */
export const JsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON' });
    return z.NEVER;
  }
});

/**
 * Comma separated origins, exactly as a browser spells them: scheme, host and a port that is not
 * the scheme's own.
 */
export const OriginList = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine(
    (origins) => origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
    'must be origins, comma separated',
  );

/** HMAC key of list cursors, 32 bytes as base64url. */
export const SecretBytes = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes as base64url')
  .transform((text) => Buffer.from(text, 'base64url'));

/**
 * Parses the environment once, at boot. On a problem it names the variables, never their values,
 * and ends the process: a half configured money service must not start.
 */
export const loadConfig = <S extends z.ZodObject>(
  schema: S,
  env: NodeJS.ProcessEnv = process.env,
): z.infer<S> => {
  const result = schema.safeParse(env);
  if (result.success) return result.data;
  for (const issue of result.error.issues) console.error(`config: ${issue.path.join('.')}: ${issue.message}`);
  process.exit(78); // EX_CONFIG of sysexits.h
};
