import { nkeyOf } from '../../../shared/bus/nkey.ts';
import { ensureStreams as ensureStreamsOf } from '../../../shared/bus/setup.ts';
import { natsRights, operatorRights } from '../../../shared/bus/topology.ts';
import { chooseNats, type Server, type ServerChoice } from '../servers/choose-servers.ts';
import type { NatsAccount } from '../servers/nats-conf.ts';
import type { EnvironmentKeys } from './keys.ts';
import { programNames } from './programs.ts';
import type { RunningEnvironment } from './service-environment.ts';

export type KeyedEnvironment = { name: string; keys: EnvironmentKeys };

/** Our own nats-server with an account per environment, or one that runs already. */
export async function chooseBus(choice: ServerChoice, keyed: readonly KeyedEnvironment[]): Promise<Server> {
  const external = choice.external?.natsUrl;
  if (external) checkExternal(external, keyed);
  // After every start, not only the first, because a killed server may have lost data that it had
  // not written.
  return chooseNats(choice, natsAccounts(keyed), (url) =>
    ensureStreams({ url }, keyed, choice.tls?.certFile),
  );
}

/** Creates the missing streams of every environment. Existing streams stay as they are. */
export async function ensureStreams(
  { url }: Server,
  keyed: readonly KeyedEnvironment[],
  caFile?: string,
): Promise<void> {
  for (const { keys } of keyed) await ensureStreamsOf({ servers: url, seed: keys.natsSeeds.admin, caFile });
}

/** How the processes of an environment log in. */
export function natsOf({ url }: Server, { keys }: KeyedEnvironment): RunningEnvironment['nats'] {
  return { url, seedOf: (program) => keys.natsSeeds[program] };
}

/**
 * Its users are not under our control. A server without users accepts every login, and one with
 * users must know the public keys.
 */
function checkExternal(natsUrl: string, keyed: readonly KeyedEnvironment[]): void {
  if (keyed.length > 1)
    throw new Error('NATS_URL has no account per environment: unset it, or run one environment');
  if (new URL(natsUrl).username !== '')
    throw new Error(
      'NATS_URL must have no login, because processes log in by NKEYs: name a server without users',
    );
}

/**
 * One account per environment, with its services and their rights in the contract, its operators,
 * and the administrator with all rights.
 */
export function natsAccounts(keyed: readonly KeyedEnvironment[]): NatsAccount[] {
  const rights = natsRights();
  return keyed.map(({ name, keys }) => ({
    name: name.toUpperCase(),
    users: [
      { nkeys: [nkeyOf(keys.natsSeeds.admin)] },
      ...programNames.map((user) => ({ nkeys: [nkeyOf(keys.natsSeeds[user])], rights: rights[user] })),
      ...Object.entries(keys.operatorSeeds).map(([operator, seed]) => ({
        nkeys: [nkeyOf(seed)],
        rights: operatorRights(operator),
      })),
    ],
  }));
}
