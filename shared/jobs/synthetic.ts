// A job that makes a small real payment through the public API, once or again and again
// (docs/operations.md, Synthetic payments).
import { z } from 'zod';
import { ServiceId } from '../contract/primitives.ts';
import { commonConfig, loadConfig } from '../lib/config.ts';
import { createLogger } from '../lib/logger.ts';
import { count, record } from '../lib/metrics.ts';
import { everyMs } from '../lib/periodic.ts';
import { onShutdown } from '../lib/shutdown.ts';
import { startTelemetry } from '../lib/telemetry.ts';
import { makeSyntheticPayment } from '../synthetic/payment.ts';

const { HTTP_HOST: _host, HTTP_PORT: _port, ...logAndTelemetry } = commonConfig;

const config = loadConfig(
  z.object({
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
  }),
);

const logger = createLogger('synthetic', config.LOG_LEVEL, config.LOG_FORMAT);
const telemetry = await startTelemetry('synthetic', config, logger);
const accounts = {
  gatewayUrl: config.GATEWAY_URL,
  serviceId: config.SYNTHETIC_SERVICE_ID,
  serviceKey: config.SYNTHETIC_SERVICE_KEY,
  delegateKey: config.SYNTHETIC_DELEGATE_KEY,
};

const pay = async (): Promise<boolean> => {
  const made = await makeSyntheticPayment(accounts, { withinSeconds: config.SYNTHETIC_WITHIN_SECONDS });
  const { outcome } = made;
  count('quittance_synthetic_payments_total', 1, { outcome });
  record('quittance_synthetic_payment_duration_seconds', made.seconds, { outcome });
  const isPaid = outcome === 'paid';
  logger[isPaid ? 'info' : 'error'](made, 'synthetic payment');
  return isPaid;
};

if (config.SYNTHETIC_EVERY_SECONDS === 0) {
  process.exitCode = (await pay()) ? 0 : 1;
  await telemetry.stop();
} else {
  const paying = everyMs(config.SYNTHETIC_EVERY_SECONDS * 1000, 'syntheticPayment', pay, logger);
  onShutdown(logger, [paying.stop, telemetry.stop]);
}
