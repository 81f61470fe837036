import path from 'node:path';
import type { ServiceName } from '../../../shared/contract/service.ts';
import { type Databases, distinctDatabases, mapDatabases } from '../../../shared/db/databases.ts';
import { migrateEnvironment } from '../../../shared/db/migrate.ts';
import { roleName } from '../../../shared/db/names.ts';
import { LOCAL_PORT } from '../../../shared/lib/local-api.ts';
import { bundled } from '../../image/bundle.ts';
import { writeAtomically } from '../processes/atomic-file.ts';
import type { ProcessSpec } from '../processes/process-spec.ts';
import type { Supervisor } from '../processes/supervisor.ts';
import { choosePostgres, chooseReadReplicas, chooseRedis, type Server } from '../servers/choose-servers.ts';
import { databaseUrl, ensureDatabase, urlAs } from '../servers/database.ts';
import { createKnownPorts } from '../servers/known-ports.ts';
import { createPortPicker } from '../servers/ports.ts';
import { chooseBus, ensureStreams, type KeyedEnvironment, natsOf } from './bus.ts';
import { environmentKeys } from './keys.ts';
import { localOrigin, type RunningEnvironment } from './service-environment.ts';
import { programs, serviceSpecs } from './service-specs.ts';
import type { Settings } from './settings.ts';
import type { Stack, StackEnvironment } from './stack-file.ts';
import {
  chainSpec,
  dashboardsSpec,
  mailSpec,
  mailUrls,
  onrampsSpec,
  prometheusSpec,
  tracesSpec,
} from './tool-specs.ts';

const host = '127.0.0.1';

/** Where every server and service will listen, and which servers run already. */
async function chooseAddresses(
  settings: Settings,
  keyed: readonly KeyedEnvironment[],
  supervisor: Supervisor,
) {
  const picker = createPortPicker();
  const known = createKnownPorts(path.join(settings.stateDir, 'ports.json'));
  const any = settings.ports === 'any';
  const port = (preferred: number) => (any ? picker.any() : known.choose(preferred, picker.from));
  const chainPort = () => (any ? picker.anyPair() : known.choose(8899, picker.pairFrom));
  const scenariosPort = async ({ name }: KeyedEnvironment) => (name === 'test' ? chainPort() : null);

  const gateways = Array.from({ length: settings.instances?.gateway ?? 1 }, () => LOCAL_PORT);
  const gatewayPorts = await inOrder(gateways, port);
  const moved = known.moved(LOCAL_PORT);
  if (moved !== null)
    settings.print(`Port ${moved.from} is taken: the API has port ${moved.to}, also at the next starts`);
  const mailPorts = { smtp: await port(1025), http: await port(8025) };
  const choice = { ...settings, port, supervisor };
  const redis = await chooseRedis(choice);
  const bus = await chooseBus(choice, keyed);
  const postgres = await choosePostgres(choice, settings.databases);
  const replicas = await chooseReadReplicas(choice, settings.readReplicas === true ? postgres.servers : []);
  const chainPorts = await inOrder(keyed, chainPort);
  const scenariosPorts = await inOrder(keyed, scenariosPort);
  const onrampsPorts = await inOrder(keyed, () => port(8090));
  const tracesPort = settings.traces === true ? await port(4318) : null;
  return {
    port,
    gatewayPorts,
    mailPorts,
    redis,
    bus,
    postgres,
    replicas,
    chainPorts,
    scenariosPorts,
    onrampsPorts,
    tracesPort,
  };
}

/**
 * Starts everything in the order of its dependencies, as much as possible in parallel.
 * @returns the content of stack.json without the pids
 */
export async function boot(settings: Settings, supervisor: Supervisor): Promise<Omit<Stack, 'processes'>> {
  const {
    stateDir,
    operators,
    environments: names = ['test'],
    logLevel = 'info',
    rateLimitScale = 1,
  } = settings;
  const keyed = names.map((name) => ({ name, keys: environmentKeys(stateDir, name, operators) }));
  const { port, gatewayPorts, mailPorts, redis, bus, postgres, chainPorts, ...ports } = await chooseAddresses(
    settings,
    keyed,
    supervisor,
  );
  const { scenariosPorts, onrampsPorts, tracesPort } = ports;
  const gatewayUrls = gatewayPorts.map((own) => `http://${host}:${own}`);
  const gatewayUrl = gatewayUrls[0]!;

  const starting = (server: Server) => (server.spec ? supervisor.start([server.spec]) : Promise.resolve());
  const preparing = keyed.map((environment, index) =>
    startChain({
      environment,
      settings,
      supervisor,
      first: index === 0,
      port: chainPorts[index]!,
      scenariosPort: scenariosPorts[index]!,
    }),
  );
  const [command] = await Promise.all([
    settings.serviceCommand ?? bundled().then(programs),
    supervisor.start([
      mailSpec(stateDir, mailPorts),
      ...(tracesPort === null ? [] : [tracesSpec(tracesPort)]),
    ]),
    starting(redis),
    bus.spec ? starting(bus) : ensureStreams(bus, keyed),
    startDatabases(supervisor, { postgres, replicas: ports.replicas, keyed, print: settings.print }),
    ...preparing,
  ]);

  const environments = keyed.map((environment, index) =>
    runningEnvironment(environment, {
      chainPort: chainPorts[index]!,
      scenariosPort: scenariosPorts[index]!,
      onrampsPort: onrampsPorts[index]!,
      postgres: { urls: postgres.urls, replicaOf: ports.replicas.urlOf },
      bus,
    }),
  );
  for (const [index, environment] of environments.entries())
    environment.genesisHash = await preparing[index]!;

  const limitsFile = path.join(stateDir, 'limits.json');
  writeAtomically(limitsFile, `${JSON.stringify({ scale: rateLimitScale })}\n`);
  const mail = mailUrls(mailPorts);
  const tracesUrl = tracesPort === null ? null : `http://${host}:${tracesPort}`;
  const shared = {
    gatewayUrl,
    redisUrl: redis.url,
    ...mail,
    limitsFile,
    logLevel,
    hourlyCaps: settings.hourlyCaps ?? {},
    caFile: settings.tls?.certFile,
  };
  const onramps = environments.map((environment, index) =>
    onrampsSpec({ settings, environment, port: onrampsPorts[index]!, first: index === 0, gatewayUrl }),
  );
  const services = await serviceSpecs({
    settings,
    environments,
    gatewayPorts,
    port,
    shared,
    tracesUrl,
    command,
  });
  const dashboards = await startingDashboards(settings, services, port);
  await supervisor.start([...onramps, ...dashboards.specs, ...services.map(({ spec }) => spec)]);

  return {
    gateway_url: gatewayUrl,
    gateway_urls: gatewayUrls,
    mail_url: mail.caughtMailUrl,
    console_url: `${localOrigin(gatewayUrl)}/console`,
    docs_url: `${gatewayUrl}/docs`,
    postgres_urls: databasesOf(postgres.urls, keyed[0]!.name),
    nats_url: bus.url,
    nats_nkey_seed: keyed[0]!.keys.natsSeeds.admin,
    redis_url: redis.url,
    environments: shownByName(environments),
    traces_url: tracesUrl,
    dashboards_url: dashboards.url,
    metrics: Object.fromEntries(services.map(({ spec, metricsUrl }) => [spec.name, metricsUrl])),
  };
}

/** Prometheus over all processes, and the page of the dashboards, if they are wanted. */
async function startingDashboards(
  { dashboards, stateDir }: Settings,
  services: readonly { metricsUrl: string }[],
  port: (preferred: number) => Promise<number>,
): Promise<{ url: string | null; specs: ProcessSpec[] }> {
  if (dashboards !== true) return { url: null, specs: [] };
  const [page, prometheus] = [await port(9099), await port(9090)];
  const metricsUrls = services.map(({ metricsUrl }) => metricsUrl);
  return {
    url: `http://${host}:${page}`,
    specs: [prometheusSpec(stateDir, prometheus, metricsUrls), dashboardsSpec(page, prometheus)],
  };
}

function runningEnvironment(
  environment: KeyedEnvironment,
  {
    chainPort,
    scenariosPort,
    onrampsPort,
    postgres: { urls, replicaOf },
    bus,
  }: {
    chainPort: number;
    scenariosPort: number | null;
    onrampsPort: number;
    postgres: { urls: Databases; replicaOf: (serverUrl: string) => string | undefined };
    bus: Server;
  },
): RunningEnvironment {
  const { name, keys } = environment;
  const ofService = (serverUrl: string, service: ServiceName): string =>
    urlAs(
      databaseUrl(serverUrl, databaseName(name)),
      roleName(databaseName(name), service),
      keys.databasePasswords[service],
    );
  return {
    name,
    keys,
    genesisHash: '',
    scenariosUrl: scenariosPort === null ? null : `http://${host}:${scenariosPort}`,
    rpc_url: `http://${host}:${chainPort}`,
    ws_url: `ws://${host}:${chainPort + 1}`,
    usdc_mint: keys.mint,
    fee_wallet: keys.feeWallet.address,
    fee_payer: keys.feePayer.address,
    moonpay_url: `http://${host}:${onrampsPort}/moonpay`,
    coinbase_url: `http://${host}:${onrampsPort}/coinbase`,
    nats: natsOf(bus, environment),
    operators: keys.operatorSeeds,
    databaseSettings: (service) => {
      const [server, replica] = [urls[service], replicaOf(urls[service])];
      return {
        POSTGRES_URL: ofService(server, service),
        ...(replica !== undefined && { POSTGRES_REPLICA_URL: ofService(replica, service) }),
      };
    },
  };
}

/**
 * The public part of an environment. It lists each field, so that no key gets into stack.json by
 * mistake.
 */
function shown(environment: StackEnvironment): StackEnvironment {
  const { rpc_url, ws_url, usdc_mint, fee_wallet, fee_payer, moonpay_url, coinbase_url } = environment;
  const { operators } = environment;
  return { rpc_url, ws_url, usdc_mint, fee_wallet, fee_payer, moonpay_url, coinbase_url, operators };
}

function shownByName(environments: readonly RunningEnvironment[]): Stack['environments'] {
  return Object.fromEntries(environments.map(({ name, ...environment }) => [name, shown(environment)]));
}

/** Starts and seeds the chain of an environment and returns its genesis hash. */
async function startChain({
  supervisor,
  ...chain
}: Parameters<typeof chainSpec>[0] & { supervisor: Supervisor }): Promise<string> {
  await supervisor.start([chainSpec(chain)]);
  // Loading the Solana libraries takes half a second, during which the servers start.
  const { seedChain } = await import('./seed-chain.ts');
  return (await seedChain(`http://${host}:${chain.port}`, chain.environment.keys)).genesisHash;
}

/** The databases of an environment on these servers: superuser. */
function databasesOf(serverUrls: Databases, environment: string): Databases {
  return mapDatabases(serverUrls, (url) => databaseUrl(url, databaseName(environment)));
}

async function startDatabases(
  supervisor: Supervisor,
  {
    postgres: { servers, urls },
    replicas,
    keyed,
    print,
  }: {
    postgres: { servers: readonly Server[]; urls: Databases };
    replicas: { specs: readonly ProcessSpec[] };
    keyed: readonly KeyedEnvironment[];
    print: (line: string) => void;
  },
): Promise<void> {
  await Promise.all(servers.map(({ spec }) => spec && supervisor.start([spec])));
  await Promise.all(keyed.map((each) => prepareEnvironment(urls, each, print)));
  await supervisor.start(replicas.specs);
}

async function prepareEnvironment(
  serverUrls: Databases,
  { name, keys }: KeyedEnvironment,
  print: (line: string) => void,
): Promise<void> {
  await Promise.all(distinctDatabases(serverUrls).map(({ url }) => ensureDatabase(url, databaseName(name))));
  await migrateEnvironment({
    databases: databasesOf(serverUrls, name),
    passwords: keys.databasePasswords,
    report: print,
  });
}

function databaseName(environment: string): string {
  return `quittance_${environment}`;
}

async function inOrder<Item, Result>(
  items: readonly Item[],
  each: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await each(item));
  return results;
}
