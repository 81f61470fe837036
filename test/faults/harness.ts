import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { connect } from 'nats';
import { identify, isRunning, signal } from '../../deploy/local/processes/process-identity.ts';
import { environmentKeys } from '../../deploy/local/stack/keys.ts';
import { type Instances, instanceName, programNames } from '../../deploy/local/stack/programs.ts';
import { HIGH_HOURLY_CAPS } from '../../deploy/local/stack/settings.ts';
import { startStack } from '../../deploy/local/stack/stack.ts';
import type { Stack } from '../../deploy/local/stack/stack-file.ts';
import { responds } from '../../deploy/local/stack/tool-specs.ts';
import { loginWith } from '../../shared/bus/nkey.ts';
import { testPrograms } from '../support/packages/programs.ts';
import { restart } from '../support/servers/restart.ts';
import { openAccess } from './access.ts';
import type { Mutation } from './mutations/mutation.ts';
import { startSecondProvider } from './second-provider.ts';
import { startVersions } from './versions/versions.ts';

const root = path.resolve(import.meta.dirname, '../..');
/**
 * The services that store money's state, and the gateway, run twice, so that one can take over the
 * other's work.
 */
const INSTANCES: Instances = { gateway: 2, settlement: 2, 'chain-submitter': 2 };

/** URL of a module in this folder, with parameters. */
const module = (file: string, parameters: Record<string, string>): string => {
  const url = pathToFileURL(file);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
};

/** Every process of the stack, by its name in stack.json. */
export const processNames = (instances: Instances = INSTANCES): readonly string[] => [
  ...['postgres', 'nats-server', 'redis-server', 'chain'],
  ...programNames.flatMap((name) =>
    Array.from({ length: instances[name] ?? 1 }, (_, index) => instanceName(name, index + 1)),
  ),
];

/** The system under test as a campaign uses it: its processes, its chain, its database. */
export type Harness = Awaited<ReturnType<typeof startHarness>>;

/** Starts a separate stack, every service with failpoints that can be armed. */
export const startHarness = async (options: {
  stateDir: string;
  slotMs: number;
  /** The number of processes of each service. The default is two for some of them. */
  instances?: Instances | undefined;
  /** A rule to switch off (mutations.ts). */
  mutation?: Mutation | undefined;
  /** Each service can be restarted in another version. Its clock cannot be wrong then. */
  versions?: 'short' | 'whole' | undefined;
  print: (line: string) => void;
}) => {
  const { stateDir, slotMs, instances = INSTANCES, mutation, print } = options;
  const names = processNames(instances);
  const failpointFolder = path.join(stateDir, 'failpoints');
  mkdirSync(failpointFolder, { recursive: true });
  const clockFile = (name: string) => path.join(failpointFolder, `${name}.clock`);
  const here = (file: string) => path.join(import.meta.dirname, file);
  // A mutation changes sources while they are loaded. Without one the programs start faster.
  const folder = mutation ? root : await testPrograms();
  const file = (source: string) => path.join(folder, mutation ? source : source.replace(/\.ts$/, '.js'));
  const loaded = [
    module(file('test/faults/preloads/armed-failpoints.ts'), { folder: failpointFolder }),
    ...(mutation ? [module(here('mutations/mutate.ts'), { name: mutation.name })] : []),
  ];
  const { versions: steps } = options;
  const versions =
    steps === undefined
      ? null
      : await startVersions({ stateDir: path.resolve(stateDir), failpointFolder, steps }, names);
  const secondProvider = await startSecondProvider();
  const running = await startStack({
    stateDir,
    ports: 'any',
    chainControl: true,
    chainSlotMs: slotMs,
    rateLimitScale: 10_000,
    hourlyCaps: HIGH_HOURLY_CAPS,
    durable: false,
    instances,
    // The faulty one is queried first, so that it is believed where one provider suffices.
    rpcUrls: (chainUrl) => [secondProvider.urlOf(chainUrl), chainUrl],
    serviceCommand: (service, name) => ({
      command: process.execPath,
      args: versions?.argsOf(service, name) ?? [
        ...[...loaded, module(here('preloads/wrong-clock.ts'), { file: clockFile(name) })].flatMap((url) => [
          '--import',
          url,
        ]),
        file(`services/${service}/main.ts`),
      ],
    }),
    print,
  }).catch((error: unknown) => {
    secondProvider.stop();
    throw error;
  });
  const bus = await connect({
    servers: running.stack.nats_url,
    ...loginWith(running.stack.nats_nkey_seed),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
  });

  const keys = environmentKeys(path.resolve(stateDir), 'test');
  const installation = await openAccess(running.stack, [
    keys.feePayer.address,
    ...keys.delegateAuthorities.map(({ address }) => address),
  ]);
  const { query, rpc } = installation;
  if (mutation?.sql !== undefined) await query(mutation.sql);

  const pids = (): Record<string, number> =>
    (JSON.parse(readFileSync(running.stackFile, 'utf8')) as Stack).processes;

  /** Kills a process for good and waits until it is gone. False when it was not running. */
  const kill = async (name: string): Promise<boolean> => {
    const who = identify(pids()[name] ?? 0);
    if (!who || !signal(who.pid, 'SIGKILL')) return false;
    while (isRunning(who)) await sleep(2);
    return true;
  };

  /** Resolves when the chain answers again. */
  const chainIsBack = async (): Promise<void> => {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const height = await rpc<number>('getBlockHeight').catch((error: unknown) => {
        if (Date.now() > deadline) throw error;
        return null;
      });
      if (height !== null) return;
      await sleep(50);
    }
  };

  return {
    ...installation,
    /** The command that runs a program with the mutation. Null: there is none. */
    mutated: (source: string): string[] | null =>
      mutation
        ? ['--import', module(here('mutations/mutate.ts'), { name: mutation.name }), path.join(root, source)]
        : null,
    stack: running.stack,
    chainIsBack,
    /** How often the chain was forked. The faults that fork it count. */
    forks: 0,
    /** Token accounts whose owners moved the money away while payments were in flight. */
    emptied: new Set<string>(),
    secondProvider,
    /** A NATS connection with all rights in the environment's account. */
    bus,
    /** Sets a process's clock wrong by this much; null: right again. */
    setClock: (name: string, wrongMs: number | null): void => {
      if (wrongMs === null) rmSync(clockFile(name), { force: true });
      else writeFileSync(clockFile(name), String(wrongMs));
    },
    stateDir,
    slotMs,
    failpointFolder,
    /** Delays each commit of an acceptance by this much, until it is set to 0. */
    holdCommits: async (ms: number): Promise<void> => {
      await query('update campaign.commits set held_ms = $1', [ms]);
    },
    names,
    /** Null: all processes have one version. */
    versions,
    pids,
    kill,
    /** Sends a signal. False when the process is not running. */
    send: (name: string, what: NodeJS.Signals): boolean => {
      const pid = pids()[name];
      return pid !== undefined && signal(pid, what);
    },
    /** Ends a service with SIGTERM and waits until its successor is ready. */
    restart: (name: string): Promise<void> => restart(stateDir, name),
    /** Resolves when all processes run and the gateway, which queries all others, reports ready. */
    healthy: async (timeoutMs = 60_000): Promise<void> => {
      const deadline = Date.now() + timeoutMs;
      let inARow = 0;
      while (inARow < 3) {
        if (Date.now() > deadline)
          throw new Error(`not healthy again: ${names.filter((name) => !pids()[name])}`);
        const up = names.every((name) => pids()[name] !== undefined);
        const ready = await Promise.all(
          running.stack.gateway_urls.map((url) => responds(`${url}/v1/health/ready`)),
        );
        inARow = up && ready.every(Boolean) ? inARow + 1 : 0;
        await sleep(100);
      }
    },
    stop: async (): Promise<void> => {
      await bus.close();
      await installation.close();
      await running.stop();
      secondProvider.stop();
    },
  };
};
