import { setTimeout as sleep } from 'node:timers/promises';
import { drainBus } from '../../shared/bus/connect.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { createLogger } from '../../shared/lib/logger.ts';
import { onShutdown } from '../../shared/lib/shutdown.ts';
import { startTelemetry } from '../../shared/lib/telemetry.ts';
import { config as schema } from './config.ts';
import { createAuthenticate } from './credentials.ts';
import { openEnvironment } from './environments.ts';
import { createLimits } from './limits.ts';
import { createReadiness } from './readiness.ts';
import { createRefusedKeys } from './refused-keys.ts';
import { createServer } from './server.ts';

/** An environment that is there answers within milliseconds; one that is away keeps nobody from the others. */
const REACH_MS = 1000;

const config = loadConfig(schema);
const logger = createLogger('gateway', config.LOG_LEVEL);
const telemetry = await startTelemetry('gateway', config, logger);
const environments = new Map(
  config.ENVIRONMENTS.map((connection) => [connection.name as string, openEnvironment(connection, logger)]),
);
const limits = createLimits({ redisUrl: config.REDIS_URL, overrides: config.LIMITS_FILE, logger });
const readiness = createReadiness([...environments.values()]);

const server = createServer({
  clock: systemClock,
  publicKeys: config.PUBLIC_KEYS,
  readiness,
  usdcMints: config.USDC_MINTS,
  environments,
  authenticate: createAuthenticate({
    environments,
    publicKeys: config.PUBLIC_KEYS,
    refusedKeys: createRefusedKeys(limits),
    now: systemClock,
  }),
  limits,
  logger,
  publicUrl: config.PUBLIC_URL,
  browserOrigins: config.BROWSER_ORIGINS ?? [new URL(config.PUBLIC_URL).origin],
  corsOrigins: config.CORS_ORIGINS,
  trustedProxies: config.TRUSTED_PROXIES,
  adoptsTraces: config.TRACEPARENT_OF_PROXIES === 'adopt',
});
// Whoever finds the port open is served: a proxy that asks no probe sends its calls as soon as it is.
await Promise.race([Promise.all([...environments.values()].map(({ reached }) => reached)), sleep(REACH_MS)]);
await server.listen({ host: config.HTTP_HOST, port: config.HTTP_PORT });
logger.info({ address: server.addresses() }, 'listening');

onShutdown(logger, [
  readiness.drain,
  () => sleep(config.DRAIN_SECONDS * 1000),
  () => server.close(),
  limits.stop,
  () =>
    Promise.all(
      [...environments.values()].map(async ({ busIfConnected }) => {
        const bus = busIfConnected();
        if (bus !== undefined) await drainBus(bus);
      }),
    ),
  telemetry.stop,
]);
