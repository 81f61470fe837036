import {
  accountsConf,
  type NatsConf,
  type NatsUser,
  natsConf,
  rightsConf,
  userLines,
} from '../../deploy/local/servers/nats-conf.ts';
import type { EnvironmentKeys } from '../../deploy/local/stack/keys.ts';
import { nkeyOf } from '../../shared/bus/nkey.ts';
import { consumerConfigs, streamConfigs } from '../../shared/bus/setup.ts';
import { natsRights, operatorRights } from '../../shared/bus/topology.ts';
import { labelsOf, type Manifest } from './manifests.ts';

/**
 * The bus of an environment in a cluster. Accounts, rights, streams and consumers are those of `npm
 * start`.
 */
export const SERVERS = 3;
const PORT = 4222;
const CLUSTER_PORT = 6222;
const MONITOR_PORT = 8222;
/** One environment's streams on a volume of 10 Gi. */
const MAX_FILE_STORE = '8GB';

/**
 * Three files make the configuration, in one folder of the server: that of the server, the rights
 * of the release, and the public keys of the installation (ConfigMap `nats-users`).
 */
export const RIGHTS_FILE = 'rights.conf';
export const USERS_FILE = 'users.conf';

/** With a prefix, because nats-server has a setting that is called `gateway`. */
const nameOfRights = (program: string): string => `rights_${program.replaceAll('-', '_')}`;

/** The rights of every process of the contract. */
export const rights = (): string =>
  rightsConf(
    Object.fromEntries(Object.entries(natsRights()).map(([user, own]) => [nameOfRights(user), own])),
  );

/** The users of an installation in users.conf: a process, `admin`, or an operator by the name. */
type InstalledUser = { program: string } | { operator: string };

const userOf = (user: InstalledUser, nkey: string): NatsUser => {
  if ('operator' in user) return { nkeys: [nkey], rights: operatorRights(user.operator) };
  return { nkeys: [nkey], ...(user.program === 'admin' ? {} : { rights: nameOfRights(user.program) }) };
};

/** The lines of users.conf by which a key logs in as a user. */
export const linesOf = (user: InstalledUser, nkey: string): string =>
  userLines(userOf(user, nkey)).join('\n');

/** The users of an installation, by the seeds that it has made. */
export const usersConf = ({ natsSeeds, operatorSeeds }: EnvironmentKeys): string =>
  accountsConf(RIGHTS_FILE, [
    {
      name: 'QUITTANCE',
      users: [
        ...Object.entries(natsSeeds).map(([program, seed]) => userOf({ program }, nkeyOf(seed))),
        ...Object.entries(operatorSeeds).map(([operator, seed]) => userOf({ operator }, nkeyOf(seed))),
      ],
    },
  ]);

const ROUTE_PASSWORD = 'NATS_PASSWORD_ROUTE';

const numbers = Array.from({ length: SERVERS }, (_, i) => i);
const routeVariable = (number: number): string => `NATS_ROUTE_${number}`;

/** The files of the component `tls` in a pod. Servers verify each other by the authority. */
export const TLS_FILES = {
  certFile: '/etc/nats-tls/tls.crt',
  keyFile: '/etc/nats-tls/tls.key',
  caFile: '/etc/nats-tls/ca.crt',
};

/** A stopping server first moves its clients to the others, within the grace period of its pod. */
const GRACEFUL = 'pid_file: "/run/nats/nats.pid"\nlame_duck_grace_period: 10s\nlame_duck_duration: 30s\n';

/**
 * The configuration of the servers of a cluster, which read the routes and their password from
 * variables. By default the servers are the pods of the StatefulSet.
 */
export const clusterConf = (
  own: Partial<Pick<NatsConf, 'port' | 'monitorPort' | 'storeDir' | 'tls'>> & { clusterPort?: number } = {},
): string =>
  `${natsConf({
    host: '0.0.0.0',
    port: own.port ?? PORT,
    monitorPort: own.monitorPort ?? MONITOR_PORT,
    storeDir: own.storeDir ?? '/data',
    maxFileStore: MAX_FILE_STORE,
    serverName: { variable: 'POD_NAME' },
    accounts: USERS_FILE,
    tls: own.tls,
    cluster: {
      name: 'quittance',
      port: own.clusterPort ?? CLUSTER_PORT,
      routes: numbers.map((number) => ({ variable: routeVariable(number) })),
      login: { user: 'route', password: { variable: ROUTE_PASSWORD } },
    },
  })}${GRACEFUL}`;

/** The configuration of a single server, for a trial. */
export const singleConf = (): string =>
  natsConf({
    host: '0.0.0.0',
    port: PORT,
    monitorPort: MONITOR_PORT,
    storeDir: '/data',
    maxFileStore: MAX_FILE_STORE,
    accounts: USERS_FILE,
  });

/** How the servers of a cluster reach each other. */
export const routesPatch = (): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'nats' },
  spec: {
    template: {
      spec: {
        containers: [
          {
            name: 'nats',
            env: [
              {
                name: ROUTE_PASSWORD,
                valueFrom: { secretKeyRef: { name: 'nats', key: 'ROUTE_PASSWORD' } },
              },
              ...numbers.map((number) => ({
                name: routeVariable(number),
                value: `nats-route://route:$(${ROUTE_PASSWORD})@nats-${number}.nats-peers:${CLUSTER_PORT}`,
              })),
              { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            ],
          },
        ],
      },
    },
  },
});

const nackName = (name: string): string => name.toLowerCase().replaceAll('_', '-');
/** Nanoseconds in Go's notation of a duration. */
const duration = (nanoseconds: number): string => `${nanoseconds / 1e9}s`;

const nack = (kind: 'Stream' | 'Consumer', name: string, spec: object): Manifest => ({
  apiVersion: 'jetstream.nats.io/v1beta2',
  kind,
  metadata: { name: nackName(name), labels: labelsOf('nats') },
  spec,
});

/**
 * Streams and consumers as resources for the controller NACK, the same that `setup-bus` creates.
 */
export const nackResources = (): Manifest[] => [
  ...streamConfigs(SERVERS).map((stream) =>
    nack('Stream', stream.name, {
      name: stream.name,
      subjects: stream.subjects,
      retention: stream.retention,
      storage: stream.storage,
      discard: stream.discard,
      ...(stream.max_msgs === undefined ? {} : { maxMsgs: stream.max_msgs }),
      ...(stream.max_age === undefined ? {} : { maxAge: duration(stream.max_age) }),
      maxBytes: stream.max_bytes,
      duplicateWindow: duration(stream.duplicate_window),
      replicas: stream.num_replicas,
      // The stream holds open jobs. Deleting a resource by mistake must not delete them.
      preventDelete: true,
    }),
  ),
  ...consumerConfigs().map(({ stream, config }) =>
    nack('Consumer', config.durable_name, {
      streamName: stream,
      durableName: config.durable_name,
      filterSubject: config.filter_subject,
      deliverPolicy: 'all',
      ackPolicy: config.ack_policy,
      ackWait: duration(config.ack_wait),
      maxDeliver: config.max_deliver,
      maxAckPending: config.max_ack_pending,
    }),
  ),
];
