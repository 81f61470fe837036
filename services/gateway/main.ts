import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { drainBus } from '../../shared/bus/connect.ts';
import { GUIDES } from '../../shared/contract/guides.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { createLogger } from '../../shared/lib/logger.ts';
import { onShutdown } from '../../shared/lib/shutdown.ts';
import { releaseStartUpMemory } from '../../shared/lib/start-up-memory.ts';
import { startTelemetry } from '../../shared/lib/telemetry.ts';
import { config as schema } from './config.ts';
import { createAuthenticate } from './credentials/authenticate.ts';
import { jwks } from './credentials/jwks.ts';
import { createRefusedKeys } from './credentials/refused-keys.ts';
import { openEnvironment } from './environments/environment.ts';
import { environments as listEnvironments } from './environments/environments.ts';
import { health } from './health/health.ts';
import { createReadiness } from './health/readiness.ts';
import { ready } from './health/ready.ts';
import { createServer } from './http/server.ts';
import { createLimits } from './limits/limits.ts';
import { connectRedis } from './redis/connect.ts';
import { createRequestLog } from './requests/request-log.ts';
import { requests } from './requests/requests.ts';

/**
 * How long the start waits for the environments. An available one connects within milliseconds; an
 * unavailable one must not delay the others.
 */
const REACH_MS = 1000;

// Files are found from here, because a bundle holds the whole gateway in this place
// (deploy/image/bundle.ts).
const readText = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');
const consoleFolder = fileURLToPath(new URL('../../console/dist/', import.meta.url));

const config = loadConfig(schema);
const logger = createLogger('gateway', config.LOG_LEVEL, config.LOG_FORMAT);
const telemetry = await startTelemetry('gateway', config, logger);
const clock = systemClock;
const environments = new Map(
  config.ENVIRONMENTS.map((connection) => [
    connection.name as string,
    openEnvironment(connection, logger, config.TLS_CA_FILE),
  ]),
);
const redis = connectRedis(config.REDIS_URL, logger, config.TLS_CA_FILE);
const limits = createLimits({
  redis,
  script: readText('./limits/sliding-window.lua'),
  overrides: config.LIMITS_FILE,
});
const requestLog = createRequestLog(redis);
const readiness = createReadiness([...environments.values()]);

const server = createServer({
  handlers: {
    health: health({ clock }),
    ready: ready({ readiness }),
    jwks: jwks({ publicKeys: config.PUBLIC_KEYS, clock }),
    environments: listEnvironments({ usdcMints: config.USDC_MINTS, x402Networks: config.X402_NETWORKS }),
    requests: requests({ log: requestLog }),
  },
  requestLog,
  readiness,
  environments,
  authenticate: createAuthenticate({
    environments,
    publicKeys: config.PUBLIC_KEYS,
    refusedKeys: createRefusedKeys(limits),
    now: clock,
  }),
  limits,
  logger,
  publicUrl: config.PUBLIC_URL,
  docsHtml: readText('./pages/docs.html'),
  pageCss: readText('./pages/page.css'),
  guides: new Map(GUIDES.map(({ name, file }) => [name, readText(`../../${file}`)])),
  security: { contacts: config.SECURITY_CONTACTS, policy: config.SECURITY_POLICY_URL },
  clock,
  consoleFolder,
  receiptPage: {
    html: readText('./pages/receipt.html'),
    css: readText('./pages/receipt.css'),
    js: readText('./pages/receipt.js'),
  },
  browserOrigins: config.BROWSER_ORIGINS ?? [new URL(config.PUBLIC_URL).origin],
  corsOrigins: config.CORS_ORIGINS,
  trustedHops: config.TRUSTED_HOPS,
  adoptsTraces: config.TRACEPARENT_OF_PROXIES === 'adopt',
});
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
