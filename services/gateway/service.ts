import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { answerEach } from '../../shared/bus/each.ts';
import { DEPRECATED_USES } from '../../shared/contract/deprecated.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import type { Logger } from '../../shared/lib/telemetry/logger.ts';
import type { Config } from './config.ts';
import { createAuthenticate } from './credentials/authenticate.ts';
import { jwks } from './credentials/jwks.ts';
import { createRefusedKeys } from './credentials/refused-keys.ts';
import type { GatewayEnvironment } from './environments/environment.ts';
import { environments as listEnvironments } from './environments/environments.ts';
import { health } from './health/health.ts';
import { createReadiness, type Readiness } from './health/readiness.ts';
import { ready } from './health/ready.ts';
import { createServer } from './http/server.ts';
import { createLimits } from './limits/limits.ts';
import { loadSite } from './pages/site.ts';
import type { Redis } from './redis/connect.ts';
import { createDeprecatedUses } from './requests/deprecated-uses.ts';
import { createRequestLog, type RequestLog } from './requests/request-log.ts';
import { requests } from './requests/requests.ts';

// Files are found from here, because a bundle holds the whole gateway in this folder
// (deploy/image/bundle.ts).
const readText = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');
const folderOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const consoleFolder = folderOf('../../console/dist/');
const siteFolder = folderOf('../../docs/site/dist/');

/** The environments by name. Each calls the services of its bus. */
type Environments = ReadonlyMap<string, GatewayEnvironment>;

const handlersOf = (config: Config, readiness: Readiness, requestLog: RequestLog) => ({
  health: health({ clock: systemClock }),
  ready: ready({ readiness }),
  jwks: jwks({ publicKeys: config.PUBLIC_KEYS, clock: systemClock }),
  environments: listEnvironments({
    usdcMints: config.USDC_MINTS,
    x402Networks: config.X402_NETWORKS,
    caughtMailUrl: config.CAUGHT_MAIL_URL,
  }),
  requests: requests({ log: requestLog }),
});

/** What the pages show, and to which other pages the answers are readable. */
const pagesOf = (config: Config) => ({
  publicUrl: config.PUBLIC_URL,
  site: loadSite({ siteFolder, publicUrl: config.PUBLIC_URL }),
  security: { contacts: config.SECURITY_CONTACTS, policy: config.SECURITY_POLICY_URL },
  consoleFolder,
  browserOrigins: config.BROWSER_ORIGINS ?? [new URL(config.PUBLIC_URL).origin],
  corsOrigins: config.CORS_ORIGINS,
});

/** Makes the gateway. It has no tables; its server is not listening yet. */
export const createService = (
  { logger, redis }: { logger: Logger; redis: Redis },
  config: Config,
  environments: Environments,
) => {
  const limits = createLimits({
    redis,
    script: readText('./limits/sliding-window.lua'),
    overrides: config.LIMITS_FILE,
  });
  const requestLog = createRequestLog(redis);
  const deprecatedUses = createDeprecatedUses(redis);
  for (const { name, reached, busIfConnected } of environments.values())
    void reached.then(() => {
      const bus = busIfConnected();
      if (bus !== undefined) answerEach(bus, DEPRECATED_USES, () => deprecatedUses.list(name));
    });
  const readiness = createReadiness([...environments.values()]);
  const authenticate = createAuthenticate({
    environments,
    publicKeys: config.PUBLIC_KEYS,
    refusedKeys: createRefusedKeys(limits),
    now: systemClock,
  });
  const server = createServer({
    ...pagesOf(config),
    handlers: handlersOf(config, readiness, requestLog),
    requestLog,
    deprecatedUses,
    readiness,
    environments,
    authenticate,
    limits,
    logger,
    clock: systemClock,
    trustedHops: config.TRUSTED_HOPS,
    adoptsTraces: config.TRACEPARENT_OF_PROXIES === 'adopt',
  });
  return { server, readiness, requestLog, deprecatedUses };
};
