// `npm run ops -- compose:init`: writes what compose.yaml needs and git must not hold into
// .local/compose: keys, passwords and the configuration of every process. It uses the code that
// configures `npm start`. A second run keeps existing keys.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { SERVICE_NAMES } from '../../shared/contract/service.ts';
import { type Databases, mapDatabases, oneDatabase, settingsOf } from '../../shared/db/databases.ts';
import { roleName } from '../../shared/db/names.ts';
import { createLedger } from '../local/chain/ledger.ts';
import { writeAtomically } from '../local/processes/atomic-file.ts';
import { readCommandLine, refuse, whole } from '../local/processes/command-line.ts';
import { MAX_DATABASES, postgresServers } from '../local/servers/choose-servers.ts';
import { urlAs } from '../local/servers/database.ts';
import { natsConf } from '../local/servers/nats-conf.ts';
import { superuserPassword } from '../local/servers/postgres-server.ts';
import { natsAccounts, natsOf } from '../local/stack/bus.ts';
import { type EnvironmentKeys, environmentKeys, genesisMint } from '../local/stack/keys.ts';
import {
  gatewayEnvironment,
  type RunningEnvironment,
  serviceEnvironment,
} from '../local/stack/service-environment.ts';
import { onrampsSpec } from '../local/stack/tool-specs.ts';
import { writeDashboards } from '../observability/dashboards/write.ts';

/** Every process listens on this port of its own container. */
const HTTP_PORT = 3000;
/** The addresses at which this machine reaches the published ports. */
const PUBLIC = { gateway: 'http://localhost:3000', onramps: 'http://localhost:8090' };
const ENVIRONMENT = 'test';
const NATS_URL = 'nats://nats:4222';
const SCENARIOS_URL = 'http://chain:8901';
const DATABASE = `quittance_${ENVIRONMENT}`;

type Variables = Record<string, string>;

/**
 * 32 random bytes under a name. They are kept, because another seed would produce another chain
 * than the one in the volume.
 */
const secret = (folder: string, name: string): string => {
  const file = path.join(folder, name);
  if (!existsSync(file)) writeAtomically(file, randomBytes(32).toString('hex'), 0o600);
  return readFileSync(file, 'utf8').trim();
};

/**
 * The variables of the synthetic payments. Their accounts exist only after a sign-up, so a person
 * enters the keys, and they are kept.
 */
const syntheticFile = (folder: string): string => {
  const file = path.join(folder, 'synthetic.env');
  return existsSync(file)
    ? readFileSync(file, 'utf8')
    : envFile({
        ENVIRONMENT,
        GATEWAY_URL: `http://gateway:${HTTP_PORT}`,
        SYNTHETIC_EVERY_SECONDS: '300',
        SYNTHETIC_SERVICE_ID: '',
        SYNTHETIC_SERVICE_KEY: '',
        SYNTHETIC_DELEGATE_KEY: '',
      });
};

/** `env_file` of Compose reads a value between single quotes literally. */
const envFile = (variables: Variables): string =>
  Object.entries(variables)
    .map(([name, value]) => {
      if (/['\n\r]/.test(value))
        throw new Error(`${name} cannot be written into an env file: its value has a quote or a line break`);
      return `${name}='${value}'\n`;
    })
    .join('');

const composeEnvironment = (
  keys: EnvironmentKeys,
  { seed, databases }: { seed: string; databases: Databases },
): RunningEnvironment => {
  return {
    name: ENVIRONMENT,
    keys,
    genesisHash: createLedger(seed).genesisHash,
    rpc_url: 'http://chain:8899',
    scenariosUrl: SCENARIOS_URL,
    ws_url: 'ws://chain:8900',
    usdc_mint: keys.mint,
    fee_wallet: keys.feeWallet.address,
    fee_payer: keys.feePayer.address,
    moonpay_url: 'http://onramps:8090/moonpay',
    coinbase_url: 'http://onramps:8090/coinbase',
    operators: keys.operatorSeeds,
    nats: natsOf({ url: NATS_URL }, { name: ENVIRONMENT, keys }),
    databaseSettings: (service) => ({
      POSTGRES_URL: urlAs(databases[service], roleName(DATABASE, service), keys.databasePasswords[service]),
    }),
  };
};

/** The servers of Postgres are those of `npm start`. Services of Compose have their names. */
const databasesOf = (count: number, password: string): Databases => {
  const serverOf = new Map(
    postgresServers(count).flatMap(({ name, services }) => services.map((service) => [service, name])),
  );
  return mapDatabases(
    oneDatabase(''),
    (_, service) => `postgres://postgres:${password}@${serverOf.get(service)}:5432/${DATABASE}`,
  );
};

/**
 * The files beside compose.yaml, name → text. The first call creates the keys in `folder`, and
 * later calls reuse them. Host names are the names of compose.yaml's services.
 */
export const composeFiles = (folder: string, count = 1): Record<string, string> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keys = environmentKeys(folder, ENVIRONMENT);
  const seed = secret(folder, 'chain-seed');
  const password = superuserPassword(folder);
  const databases = databasesOf(count, password);
  const environment = composeEnvironment(keys, { seed, databases });
  const shared = {
    gatewayUrl: PUBLIC.gateway,
    redisUrl: 'redis://redis:6379',
    smtpUrl: 'smtp://mail:1025',
    limitsFile: '',
    logLevel: 'info',
    rpcUrls: [SCENARIOS_URL],
  };
  const inside = { HTTP_HOST: '0.0.0.0', HTTP_PORT: String(HTTP_PORT) };
  const services: Record<string, Variables> = {
    gateway: { ...gatewayEnvironment(HTTP_PORT, [environment], shared), ...inside },
    ...Object.fromEntries(
      SERVICE_NAMES.map((name) => [
        name,
        { ...serviceEnvironment(name, HTTP_PORT, environment, shared), ...inside },
      ]),
    ),
  };
  // The browser opens the widget, and the service calls the API.
  const { MOONPAY } = services.funding!;
  services.funding!.MOONPAY = JSON.stringify({
    ...JSON.parse(MOONPAY!),
    widget_url: `${PUBLIC.onramps}/moonpay/`,
  });
  const { env: onramps = {} } = onrampsSpec({
    settings: { stateDir: '/', stackFile: '', print: () => {} },
    environment,
    port: 8090,
    first: true,
    gatewayUrl: `http://gateway:${HTTP_PORT}`,
  });
  const all: Record<string, Variables> = {
    ...services,
    migrate: {
      ...settingsOf(databases),
      DATABASE_PASSWORDS: JSON.stringify(keys.databasePasswords),
    },
    'setup-bus': {
      NATS_URL: environment.nats.url,
      NATS_NKEY_SEED: keys.natsSeeds.admin,
    },
    postgres: { POSTGRES_PASSWORD: password, POSTGRES_DB: DATABASE },
    chain: {
      CHAIN_HOST: '0.0.0.0',
      CHAIN_PORT: '8899',
      CHAIN_SCENARIOS_PORT: '8901',
      CHAIN_DATA_DIR: '/data',
      CHAIN_SEED: seed,
      CHAIN_GENESIS_MINT: genesisMint(keys),
    },
    seed: { RPC_URL: environment.rpc_url, ENVIRONMENT_KEYS: JSON.stringify(keys) },
    mail: { MAIL_HOST: '0.0.0.0', MAIL_SMTP_PORT: '1025', MAIL_HTTP_PORT: '8025', MAIL_DATA_DIR: '/data' },
    onramps: { ...onramps, ONRAMPS_HOST: 'onramps', ONRAMPS_DATA_DIR: '/data' },
    grafana: { GF_SECURITY_ADMIN_PASSWORD: secret(folder, 'grafana-password') },
  };
  const accounts = natsAccounts([{ name: ENVIRONMENT, keys }]);
  return {
    'synthetic.env': syntheticFile(folder),
    'nats.conf': natsConf({ host: '0.0.0.0', port: 4222, storeDir: '/data', accounts }),
    ...Object.fromEntries(
      Object.entries(all).map(([name, variables]) => [`${name}.env`, envFile(variables)]),
    ),
  };
};

/** Writes all that compose.yaml finds beside it into a folder. */
export const writeComposeFiles = (folder: string, count = 1): void => {
  for (const [name, text] of Object.entries(composeFiles(folder, count)))
    writeAtomically(path.join(folder, name), text, 0o600);
  writeDashboards(path.join(folder, 'dashboards'));
};

if (import.meta.main) {
  const { values } = readCommandLine({
    typed: 'npm run ops -- compose:init',
    about:
      'Creates keys, passwords and configuration of deploy/compose.yaml in .local/compose. Existing keys are kept.',
    options: {
      databases: whole(
        'N',
        `servers of Postgres: 1, or ${MAX_DATABASES} with deploy/compose.databases.yaml`,
        1,
      ),
    },
  });
  if (values.databases !== 1 && values.databases !== MAX_DATABASES)
    refuse(`--databases must be 1 or ${MAX_DATABASES}`);
  const folder = path.resolve(import.meta.dirname, '../../.local/compose');
  writeComposeFiles(folder, values.databases);
  console.log(`The keys and the configuration are in ${path.relative(process.cwd(), folder)}.`);
}
