import { ensureStreams as ensureStreamsOf } from '../../../shared/bus/setup.ts';
import { natsRights } from '../../../shared/bus/topology.ts';
import { chooseNats, type Server, type ServerChoice } from '../servers/choose-servers.ts';
import { urlAs } from '../servers/database.ts';
import { type NatsAccount, natsUserName } from '../servers/nats-conf.ts';
import type { EnvironmentKeys } from './keys.ts';
import { busUserNames } from './programs.ts';
import type { RunningEnvironment } from './service-environment.ts';

export type KeyedEnvironment = { name: string; keys: EnvironmentKeys };

/** The bus, and the logins of the services of an environment and of the set-up. */
export type Bus = Server & {
  nats: (environment: KeyedEnvironment) => RunningEnvironment['nats'];
  /** The URL with a user that has all rights. */
  adminUrl: (environment: KeyedEnvironment) => string;
};

/** Our own nats-server with an account per environment, or one that runs already. */
export async function chooseBus(choice: ServerChoice, keyed: readonly KeyedEnvironment[]): Promise<Bus> {
  if (choice.external?.natsUrl) return externalBus(choice.external.natsUrl, keyed);
  // After every start, not only the first, because a killed server may have lost data that it had
  // not written.
  const server = await chooseNats(choice, natsAccounts(keyed), (url) => ensureStreams(busAt({ url }), keyed));
  return busAt(server);
}

/** Creates the missing streams of every environment. Existing streams stay as they are. */
export async function ensureStreams(bus: Bus, keyed: readonly KeyedEnvironment[]): Promise<void> {
  for (const environment of keyed) {
    const { username, password } = new URL(bus.adminUrl(environment));
    const login = username ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : {};
    await ensureStreamsOf({ servers: bus.url, ...login });
  }
}

function busAt(server: Server): Bus {
  const { url } = server;
  return {
    ...server,
    nats: ({ name, keys }) => ({
      url,
      credentials: (service) => ({
        user: natsUserName(name, service),
        password: keys.natsPasswords[service],
      }),
    }),
    adminUrl: ({ name, keys }) => urlAs(url, natsUserName(name, 'admin'), keys.natsPasswords.admin),
  };
}

/** Its users are not under our control, so all services log in as the URL says. */
function externalBus(natsUrl: string, keyed: readonly KeyedEnvironment[]): Bus {
  if (keyed.length > 1)
    throw new Error('NATS_URL has no account per environment: unset it, or run one environment');
  const { username, password, host } = new URL(natsUrl);
  const credentials = { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  const url = `nats://${host}`;
  return { url, nats: () => ({ url, credentials: () => credentials }), adminUrl: () => natsUrl };
}

/**
 * One account per environment, with its services and their rights in the contract, and the
 * administrator with all rights.
 */
export function natsAccounts(keyed: readonly KeyedEnvironment[]): NatsAccount[] {
  const rights = natsRights();
  return keyed.map(({ name, keys }) => ({
    name: name.toUpperCase(),
    users: [
      { user: natsUserName(name, 'admin'), password: keys.natsPasswords.admin },
      ...busUserNames.map((service) => ({
        user: natsUserName(name, service),
        password: keys.natsPasswords[service],
        rights: rights[service],
      })),
    ],
  }));
}
