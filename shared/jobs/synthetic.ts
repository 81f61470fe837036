// A job that makes a small real payment through the public API, once or again and again
// (docs/operations.md, Synthetic payments).
import { loadConfig } from '../lib/config.ts';
import { everyMs } from '../lib/periodic.ts';
import { onShutdown } from '../lib/shutdown.ts';
import { createLogger } from '../lib/telemetry/logger.ts';
import { count, record } from '../lib/telemetry/metrics.ts';
import { startTelemetry } from '../lib/telemetry/telemetry.ts';
import { syntheticConfig } from '../synthetic/config.ts';
import { makeSyntheticPayment } from '../synthetic/payment.ts';

const config = loadConfig(syntheticConfig);
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
