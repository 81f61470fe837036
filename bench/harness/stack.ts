import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type NatsConnection } from 'nats';
import pg from 'pg';
import { signal } from '../../deploy/local/processes/process-identity.ts';
import { type Api, createApi } from '../../deploy/local/seed/api.ts';
import { type EnvironmentKeys, environmentKeys } from '../../deploy/local/stack/keys.ts';
import { HIGH_HOURLY_CAPS, type StackOptions } from '../../deploy/local/stack/settings.ts';
import { startStack } from '../../deploy/local/stack/stack.ts';
import type { Stack } from '../../deploy/local/stack/stack-file.ts';
import { loginWith } from '../../shared/bus/nkey.ts';
import { busTls } from '../../shared/bus/tls.ts';
import { removeStateDir, testStateDir } from '../../test/support/servers/test-state.ts';
import { certificateFiles } from '../../test/support/servers/tls.ts';
import type { Run } from './run.ts';

export type BenchStack = {
  stack: Stack;
  stateDir: string;
  keys: EnvironmentKeys;
  api: Api;
  /** Superuser on the environment's database. */
  db: pg.Pool;
  /** A connection with all rights in the environment's account. */
  nats: () => Promise<NatsConnection>;
  /** Name → pid at this moment. */
  pids: () => Record<string, number>;
  /** Profiles our services during the work, if the run asks for it. */
  profiled: <T>(work: () => Promise<T>) => Promise<T>;
};

const repositoryRoot = path.resolve(import.meta.dirname, '../..');
/**
 * A signal that nothing else uses: close-with-grace uses the usual ones, and a process without a
 * listener ignores this one.
 */
const PROFILE_SIGNAL = 'SIGWINCH';
const preload = path.join(import.meta.dirname, 'profiler.ts');
/** The folder of a run's profiles, before they are evaluated. */
export const profileFolder = (run: Run): string =>
  path.join(repositoryRoot, '.local/bench', `${run.name}-profiles`);

/** Runs a service from its sources with the profiler loaded. */
const profiledSource =
  (folder: string): NonNullable<StackOptions['serviceCommand']> =>
  (service, name) => ({
    command: process.execPath,
    args: [
      '--import',
      preload,
      path.join(repositoryRoot, 'services', service, 'main.ts'),
      `--profile=${path.join(folder, name)}`,
    ],
  });

/** A certificate of the servers, which is removed with the run. */
const certificateOf = async (run: Run) => {
  const { own, remove } = await certificateFiles();
  run.defer(async () => remove());
  return own;
};

/**
 * The whole product on its own ports and in its own state folder, as `npm start` starts it:
 * durable, with all defaults. Only the request limits are raised. It is stopped with the run.
 * @param label distinguishes several stacks of one run
 */
export const startBenchStack = async (
  run: Run,
  label: string,
  { keepState = false, ...options }: Partial<StackOptions> & { keepState?: boolean } = {},
): Promise<BenchStack> => {
  run.report.progress(`starting the stack ${label}`);
  const stateDir = options.stateDir ?? testStateDir(`bench-${run.name}-${label}`);
  const folder = profileFolder(run);
  const tls = run.options.tls ? await certificateOf(run) : undefined;
  const running = await startStack({
    ports: 'any',
    durable: true,
    rateLimitScale: 100_000,
    hourlyCaps: HIGH_HOURLY_CAPS,
    // A crash during a measurement invalidates every figure. A process that was asked to end exits
    // with code 0.
    print: (line) => {
      if (/ was ended by | exited with code [^0]/.test(line)) run.report.note(line);
    },
    signal: run.signal,
    ...(run.options.profile && { serviceCommand: profiledSource(folder) }),
    ...(tls && { tls }),
    ...options,
    stateDir,
  });
  const { stack } = running;
  const db = new pg.Pool({ connectionString: stack.postgres_urls.settlement, max: 4 });
  // The server may be stopped or restarted while the pool exists.
  db.on('error', () => {});
  let stopped = false;
  run.defer(async () => {
    if (stopped) return;
    stopped = true;
    await db.end();
    await running.stop();
    if (!keepState) removeStateDir(stateDir);
  });
  const pids = () => (JSON.parse(readFileSync(running.stackFile, 'utf8')) as Stack).processes;
  const toggleProfiles = () => {
    const services = Object.keys(stack.metrics);
    for (const [name, pid] of Object.entries(pids()))
      if (services.includes(name)) signal(pid, PROFILE_SIGNAL);
  };
  return {
    stack,
    stateDir,
    keys: environmentKeys(stateDir, 'test'),
    api: createApi(stack.gateway_url),
    db,
    nats: () =>
      connect({
        servers: stack.nats_url,
        ...busTls(stack.nats_url, tls?.certFile),
        ...loginWith(stack.nats_nkey_seed),
      }),
    pids,
    profiled: async (work) => {
      if (!run.options.profile) return work();
      toggleProfiles();
      // The start of a profile blocks the process while the profiler reads all of its code.
      await sleep(2000);
      try {
        return await work();
      } finally {
        toggleProfiles();
      }
    },
  };
};

/** The settings of Postgres on this stack that decide whether a comparison is fair. */
export const noteDurability = async ({ db }: BenchStack, { report }: Run): Promise<void> => {
  const { rows } = await db.query<{ name: string; setting: string }>(
    `select name, setting from pg_settings
     where name in ('server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'commit_delay')
     order by name`,
  );
  report.note(`Postgres: ${rows.map(({ name, setting }) => `${name} ${setting}`).join(', ')}`);
};
