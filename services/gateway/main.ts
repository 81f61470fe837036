import { setTimeout as sleep } from 'node:timers/promises';
import { drainBus } from '../../shared/bus/connect.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { onShutdown } from '../../shared/lib/shutdown.ts';
import { createLogger } from '../../shared/lib/telemetry/logger.ts';
import { releaseStartUpMemory } from '../../shared/lib/telemetry/start-up-memory.ts';
import { startTelemetry } from '../../shared/lib/telemetry/telemetry.ts';
import { config as schema } from './config.ts';
import { openEnvironment } from './environments/environment.ts';
import { connectRedis } from './redis/connect.ts';
import { createService } from './service.ts';

/**
 * How long the start waits for the environments. An available one connects within milliseconds; an
 * unavailable one must not delay the others.
 */
const REACH_MS = 1000;

const config = loadConfig(schema);
const logger = createLogger('gateway', config.LOG_LEVEL, config.LOG_FORMAT);
const telemetry = await startTelemetry('gateway', config, logger);
const environments = new Map(
  config.ENVIRONMENTS.map((connection) => [
    connection.name as string,
    openEnvironment(connection, logger, config.TLS_CA_FILE),
  ]),
);
const redis = connectRedis(config.REDIS_URL, logger, config.TLS_CA_FILE);
const { server, readiness, requestLog, deprecatedUses } = createService(
  { logger, redis },
  config,
  environments,
);
// A proxy without probes sends calls as soon as the port is open, so the port opens after the
// environments are connected.
await Promise.race([Promise.all([...environments.values()].map(({ reached }) => reached)), sleep(REACH_MS)]);
releaseStartUpMemory();
await server.listen({ host: config.HTTP_HOST, port: config.HTTP_PORT });
logger.info({ address: server.addresses() }, 'listening');

onShutdown(logger, [
  readiness.drain,
  () => sleep(config.DRAIN_SECONDS * 1000),
  () => server.close(),
  requestLog.stop,
  deprecatedUses.stop,
  () => redis.disconnect(),
  () =>
    Promise.all(
      [...environments.values()].map(async ({ busIfConnected }) => {
        const bus = busIfConnected();
        if (bus !== undefined) await drainBus(bus);
      }),
    ),
  telemetry.stop,
]);
