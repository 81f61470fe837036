import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeAtomically } from '../../deploy/local/processes/atomic-file.ts';
import { urlAs } from '../../deploy/local/servers/database.ts';
import { superuserPassword } from '../../deploy/local/servers/postgres-server.ts';
import { environmentKeys } from '../../deploy/local/stack/keys.ts';
import {
  gatewayEnvironment,
  type RunningEnvironment,
  serviceEnvironment,
} from '../../deploy/local/stack/service-environment.ts';
import type { ServiceName } from '../../shared/contract/service.ts';
import { SERVICE_NAMES } from '../../shared/contract/service.ts';
import { roleName } from '../../shared/db/names.ts';
import { USERS_FILE, usersConf } from './bus.ts';
import { serverOf } from './databases.ts';
import type { Manifest } from './manifests.ts';
import { HTTP_PORT, SOURCES } from './settings.ts';

export type ClusterEnvironment = {
  name: string;
  namespace: string;
  rpcUrls: readonly string[];
  smtpUrl: string;
  /** Whether each service has a Postgres of its own (components/postgres-per-service). */
  hasOwnDatabases?: boolean;
  /** Whether the environment may issue USDC, as only a chain of its own allows. Default false. */
  issuesUsdc?: boolean;
};

/**
 * The password of the servers for each other. nats-server reads it from a variable, and would not
 * read a value of digits, or one that begins with `-`, as a string.
 */
const routePassword = (existing: string): string => `nats_${existing}`;

/** The overlay `live` has the component `tls`, because its processes refuse plain connections. */
const isEncrypted = (environment: string): boolean => environment === 'live';
/** Where the component mounts the authority of the servers. */
const CA_FILE = '/etc/quittance-ca/ca.crt';

const secretIn = (folder: string, name: string): string => {
  const file = path.join(folder, name);
  if (!existsSync(file)) writeAtomically(file, randomBytes(24).toString('hex'), 0o600);
  return readFileSync(file, 'utf8');
};

/** The settings of a service that have this source in a cluster. */
const only = (from: 'secret' | 'public-keys', settings: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(settings).filter(([name]) => {
      const source = SOURCES[name];
      return source !== null && source !== undefined && 'from' in source && source.from === from;
    }),
  );

/**
 * Every Secret and the public keys that an installation needs. The first call creates them in
 * `folder`, and later calls reuse them, as `npm start` does. They serve for a trial and as the list
 * of what a secret store must hold. Keys of live money must be in a secret store from the
 * beginning.
 */
export const clusterSecrets = (options: {
  folder: string;
  environments: readonly ClusterEnvironment[];
  gatewayNamespace: string;
}): Manifest[] => {
  const { folder, environments, gatewayNamespace } = options;
  const { add, manifests } = collectManifests();
  const running = environments.map((environment) => runningEnvironment(folder, environment));
  const redisPassword = secretIn(folder, 'redis-password');
  const redisScheme = environments.some(({ name }) => isEncrypted(name)) ? 'rediss' : 'redis';
  const shared = {
    gatewayUrl: 'http://unused',
    redisUrl: `${redisScheme}://:${redisPassword}@redis:6379`,
    limitsFile: '',
    logLevel: 'info',
  };

  for (const [index, { name, namespace, rpcUrls, smtpUrl, issuesUsdc }] of environments.entries()) {
    const { keys, nats, databaseSettings, ...environment } = running[index]!;
    for (const service of SERVICE_NAMES) {
      const all = serviceEnvironment(
        service,
        HTTP_PORT,
        { ...environment, keys, nats, databaseSettings },
        {
          ...shared,
          smtpUrl,
          rpcUrls,
        },
      );
      // The sandboxes of `npm start` are not real providers, and we do not control the mint of a
      // public network.
      const { MOONPAY: _1, COINBASE: _2, FUNDING_AUTHORITY_KEY, ...own } = all;
      const authority = issuesUsdc && FUNDING_AUTHORITY_KEY !== undefined ? { FUNDING_AUTHORITY_KEY } : {};
      add('Secret', namespace, service, { ...only('secret', own), ...authority });
      add('ConfigMap', namespace, 'public-keys', only('public-keys', own));
    }
    const password = superuserPassword(folder);
    add('Secret', namespace, 'setup', {
      NATS_NKEY_SEED: keys.natsSeeds.admin,
      DATABASE_PASSWORDS: JSON.stringify(keys.databasePasswords),
      POSTGRES_ADMIN_URL: `postgres://postgres:${password}@postgres-rw:5432/quittance_${name}`,
    });
    add('ConfigMap', namespace, 'nats-users', { [USERS_FILE]: usersConf(keys) });
    // Used if no operator creates the database (overlays/single-node).
    add('Secret', namespace, 'postgres', { POSTGRES_PASSWORD: password });
    add('Secret', namespace, 'nats', {
      ROUTE_PASSWORD: routePassword(secretIn(folder, `route-password-${name}`)),
    });
  }
  const gateway = gatewayEnvironment(HTTP_PORT, running, { ...shared, smtpUrl: '' });
  add('Secret', gatewayNamespace, 'gateway', { ...only('secret', gateway), REDIS_PASSWORD: redisPassword });
  add('ConfigMap', gatewayNamespace, 'public-keys', only('public-keys', gateway));
  return manifests();
};

/** Secrets and config maps by name. Values for the same name are merged. */
const collectManifests = () => {
  const found = new Map<
    string,
    Manifest & { stringData?: Record<string, string>; data?: Record<string, string> }
  >();
  const add = (
    kind: 'Secret' | 'ConfigMap',
    namespace: string,
    name: string,
    values: Record<string, string>,
  ) => {
    const field = kind === 'Secret' ? 'stringData' : 'data';
    const id = `${namespace}/${kind}/${name}`;
    // In single-node the gateway runs beside the services, and both have a secret `gateway`.
    const before = found.get(id)?.[field] ?? {};
    found.set(id, {
      apiVersion: 'v1',
      kind,
      metadata: { name, namespace },
      [field]: { ...before, ...values },
    });
  };
  return { add, manifests: () => [...found.values()] };
};

const runningEnvironment = (
  folder: string,
  { name, namespace, rpcUrls, hasOwnDatabases = false }: ClusterEnvironment,
): RunningEnvironment => {
  const keys = environmentKeys(folder, name);
  const database = `quittance_${name}`;
  const tls = isEncrypted(name) ? `?sslmode=verify-full&sslrootcert=${CA_FILE}` : '';
  const databaseSettings = (service: ServiceName): Record<string, string> => ({
    POSTGRES_URL: urlAs(
      `postgres://${hasOwnDatabases ? serverOf(service) : 'postgres'}-rw:5432/${database}${tls}`,
      roleName(database, service),
      keys.databasePasswords[service],
    ),
  });
  // Settings without a secret are omitted, because settings.env has them.
  return {
    name,
    keys,
    rpc_url: rpcUrls[0]!,
    fee_wallet: keys.feeWallet.address,
    nats: {
      // The gateway's URL of the bus, from another namespace.
      url: `${isEncrypted(name) ? 'tls' : 'nats'}://nats.${namespace}.svc:4222`,
      seedOf: (user) => keys.natsSeeds[user],
    },
    databaseSettings,
  } as RunningEnvironment;
};
