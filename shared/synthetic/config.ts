import { z } from 'zod';
import { ServiceId } from '../contract/primitives.ts';
import { commonConfig } from '../lib/config.ts';

const { HTTP_HOST: _host, HTTP_PORT: _port, ...logAndTelemetry } = commonConfig;

/** The variables of the job `synthetic`. */
export const syntheticConfig = z.object({
  ...logAndTelemetry,
  /** The label of the metrics. */
  ENVIRONMENT: z.enum(['test', 'live']),
  GATEWAY_URL: z.url({ protocol: /^https?$/ }),
  SYNTHETIC_SERVICE_ID: ServiceId,
  /** The service's own key. */
  SYNTHETIC_SERVICE_KEY: z.string().regex(/^vendor_/, 'must be a service key (vendor_…)'),
  /** A key that may spend little: each payment costs its fee. */
  SYNTHETIC_DELEGATE_KEY: z.string().regex(/^dk_/, 'must be a delegate key (dk_…)'),
  /** 0: one payment, and its outcome is the exit code. */
  SYNTHETIC_EVERY_SECONDS: z.coerce.number().int().min(0).max(86_400).default(0),
  /** How long a payment may take before it counts as failed. */
  SYNTHETIC_WITHIN_SECONDS: z.coerce.number().int().min(5).max(600).default(60),
});
