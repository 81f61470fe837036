import path from 'node:path';
import { writeAtomically } from './atomic-file.ts';
import { databaseUrl, ensureDatabase, urlAs } from './database.ts';
import { type EnvironmentKeys, environmentKeys } from './keys.ts';
import { type NatsAccount, natsUserName } from './nats-conf.ts';
import { createPortPicker } from './ports.ts';
import { postgresServer } from './postgres.ts';
import { product } from './product.ts';
import { seedChain } from './seed-chain.ts';
import { natsServer, redisServer } from './servers.ts';
import type { RunningEnvironment } from './service-environment.ts';
import { serviceSpecs } from './service-specs.ts';
import { serviceNames } from './services.ts';
import type { Settings } from './settings.ts';
import type { Stack } from './stack-file.ts';
import type { ProcessSpec, Supervisor } from './supervisor.ts';
import { chainSpec, mailSpec } from './tools.ts';

const host = '127.0.0.1';

type KeyedEnvironment = { name: string; keys: EnvironmentKeys };

/** A server that was started for us (`spec`) or that somebody else runs. */
type Server = { url: string; spec?: ProcessSpec };

/** The bus and how the services of an environment, and the set-up, log in to it. */
type Bus = Server & {
  nats: (environment: KeyedEnvironment) => RunningEnvironment['nats'];
  adminUrl: (environment: KeyedEnvironment) => string;
};

/**
 * Starts everything in the order it depends on each other, as much of it at once as possible, and returns
 * what stack.json says besides the pids.
 */
export async function boot(settings: Settings, supervisor: Supervisor): Promise<Omit<Stack, 'processes'>> {
  const { stateDir, environments: names = ['test'], logLevel = 'info', rateLimitScale = 1 } = settings;
  const keyed = names.map((name) => ({ name, keys: environmentKeys(stateDir, name) }));
  const picker = createPortPicker();
  const port = (preferred: number) => (settings.ports === 'any' ? picker.any() : picker.from(preferred));
  const chainPort = () => (settings.ports === 'any' ? picker.anyPair() : picker.pairFrom(8899));

  const gatewayPort = await port(3000);
  const gatewayUrl = `http://${host}:${gatewayPort}`;
  const mailPorts = { smtp: await port(1025), http: await port(8025) };
  const redis = await chooseRedis(settings, port);
  const bus = await chooseBus(settings, keyed, port);
  const postgres = await choosePostgres(settings, port);
  const chainPorts = await inOrder(keyed, chainPort);

  const starting = (server: Server) => (server.spec ? supervisor.start([server.spec]) : Promise.resolve());
  const preparing = keyed.map((environment, index) =>
    startChain(environment, chainPorts[index]!, index, settings, supervisor),
  );
  await Promise.all([
    supervisor.start([mailSpec(stateDir, mailPorts)]),
    starting(redis),
    bus.spec ? starting(bus) : ensureStreams(bus, keyed),
    starting(postgres).then(() => Promise.all(keyed.map((each) => prepareDatabase(postgres.url, each)))),
    ...preparing,
  ]);

  const roleName = await roleNames();
  const environments = keyed.map((environment, index): RunningEnvironment => {
    const { name, keys } = environment;
    const database = databaseUrl(postgres.url, databaseName(name));
    return {
      name,
      keys,
      genesisHash: '',
      rpc_url: `http://${host}:${chainPorts[index]!}`,
      ws_url: `ws://${host}:${chainPorts[index]! + 1}`,
      usdc_mint: keys.mint.address,
      fee_wallet: keys.feeWallet.address,
      fee_payer: keys.feePayer.address,
      nats: bus.nats(environment),
      databaseUrl: (service) => urlAs(database, roleName(name, service), keys.databasePasswords[service]),
    };
  });
  for (const [index, environment] of environments.entries())
    environment.genesisHash = await preparing[index]!;

  const limitsFile = path.join(stateDir, 'limits.json');
  writeAtomically(limitsFile, `${JSON.stringify({ scale: rateLimitScale })}\n`);
  const smtpUrl = `smtp://${host}:${mailPorts.smtp}`;
  const shared = { gatewayUrl, redisUrl: redis.url, smtpUrl, limitsFile, logLevel };
  await supervisor.start(await serviceSpecs({ settings, environments, gatewayPort, port, shared }));

  return {
    gateway_url: gatewayUrl,
    mail_url: `http://${host}:${mailPorts.http}`,
    console_url: `${gatewayUrl}/sign-in`,
    docs_url: `${gatewayUrl}/openapi.json`,
    postgres_url: databaseUrl(postgres.url, databaseName(keyed[0]!.name)),
    nats_url: bus.adminUrl(keyed[0]!),
    redis_url: redis.url,
    environments: Object.fromEntries(
      environments.map(({ name, rpc_url, ws_url, usdc_mint, fee_wallet, fee_payer }) => [
        name,
        { rpc_url, ws_url, usdc_mint, fee_wallet, fee_payer },
      ]),
    ),
  };
}

type ChoosePort = (preferred: number) => Promise<number>;

async function choosePostgres({ external, stateDir, durable }: Settings, port: ChoosePort): Promise<Server> {
  if (external?.postgresUrl) return { url: external.postgresUrl };
  return postgresServer({ stateDir, port: await port(5432), durable: durable ?? true });
}

async function chooseRedis({ external, stateDir }: Settings, choosePort: ChoosePort): Promise<Server> {
  if (external?.redisUrl) return { url: external.redisUrl };
  const port = await choosePort(6379);
  return { url: `redis://${host}:${port}`, spec: redisServer({ stateDir, port }) };
}

async function chooseBus(
  settings: Settings,
  keyed: KeyedEnvironment[],
  choosePort: ChoosePort,
): Promise<Bus> {
  const { external, stateDir } = settings;
  if (external?.natsUrl) return externalBus(external.natsUrl, keyed);
  const port = await choosePort(4222);
  const url = `nats://${host}:${port}`;
  const bus: Bus = {
    url,
    nats: ({ name, keys }) => ({
      url,
      credentials: (service) => ({
        user: natsUserName(name, service),
        password: keys.natsPasswords[service],
      }),
    }),
    adminUrl: ({ name, keys }) => urlAs(url, natsUserName(name, 'admin'), keys.natsPasswords.admin),
  };
  const accounts = await natsAccounts(keyed);
  // After every start, not only the first: a killed server may have lost what it had not written yet.
  const afterReady = () => ensureStreams(bus, keyed);
  return { ...bus, spec: natsServer({ stateDir, port, accounts, afterReady }) };
}

/** Its users are not ours to make: all services log in as the URL says. */
function externalBus(natsUrl: string, keyed: KeyedEnvironment[]): Bus {
  if (keyed.length > 1)
    throw new Error('NATS_URL has no account per environment: unset it or run one environment');
  const { username, password, host: address } = new URL(natsUrl);
  const credentials = { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  const url = `nats://${address}`;
  return { url, nats: () => ({ url, credentials: () => credentials }), adminUrl: () => natsUrl };
}

async function natsAccounts(keyed: readonly KeyedEnvironment[]): Promise<NatsAccount[]> {
  const rights = (await product.busRights())?.natsRights();
  return keyed.map(({ name, keys }) => ({
    name: name.toUpperCase(),
    users: [
      { user: natsUserName(name, 'admin'), password: keys.natsPasswords.admin },
      ...serviceNames.map((service) => ({
        user: natsUserName(name, service),
        password: keys.natsPasswords[service],
        ...(rights ? { rights: rights[service] } : {}),
      })),
    ],
  }));
}

async function ensureStreams(bus: Bus, keyed: readonly KeyedEnvironment[]): Promise<void> {
  const setup = await product.busSetup();
  for (const environment of keyed) {
    const { username, password } = new URL(bus.adminUrl(environment));
    const login = username ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : {};
    await setup?.ensureStreams({ servers: bus.url, ...login });
  }
}

/** Returns the genesis hash of the chain, seeded. */
async function startChain(
  { name, keys }: KeyedEnvironment,
  port: number,
  index: number,
  settings: Settings,
  supervisor: Supervisor,
): Promise<string> {
  await supervisor.start([chainSpec({ settings, environment: name, port, first: index === 0 })]);
  return (await seedChain(`http://${host}:${port}`, keys)).genesisHash;
}

async function prepareDatabase(serverUrl: string, { name, keys }: KeyedEnvironment): Promise<void> {
  await ensureDatabase(serverUrl, databaseName(name));
  const migrate = await product.migrate();
  const adminUrl = databaseUrl(serverUrl, databaseName(name));
  await migrate?.migrateEnvironment({ adminUrl, passwords: keys.databasePasswords });
}

async function roleNames(): Promise<(environment: string, service: string) => string> {
  return (
    (await product.migrate())?.roleName ?? ((environment, service) => `quittance_${environment}_${service}`)
  );
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
