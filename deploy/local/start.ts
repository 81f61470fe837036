// `npm start`: the whole system on this machine, until Ctrl-C.
import path from 'node:path';
import { z } from 'zod';
import { OperatorName } from '../../shared/contract/service.ts';
import { databasesIn, hasDatabases } from '../../shared/db/databases.ts';
import { hourlyCapsConfig } from '../../shared/db/hourly-caps.ts';
import { flag, readCommandLine, text, whole } from './processes/command-line.ts';
import { createInterrupts } from './processes/interrupts.ts';
import { identify, isRunning } from './processes/process-identity.ts';
import { MAX_DATABASES } from './servers/choose-servers.ts';
import { ensurePrometheus } from './setup/prometheus.mjs';
import { replicas } from './stack/programs.ts';
import { type RunningStack, startStack } from './stack/stack.ts';
import type { Stack } from './stack/stack-file.ts';
import { INSPECT_PORT, startWatch, type Watch } from './watch/watch.ts';

const print = (line: string): void => console.log(line);

// `npm run dev` passes --watch.
const isDevelopment = process.argv.includes('--watch');
const { values } = readCommandLine({
  typed: isDevelopment ? 'npm run dev' : 'npm start',
  about: isDevelopment
    ? 'Runs the whole system on this machine, and replaces a service when its source changes.'
    : 'Runs the whole system on this machine, and makes one payment. Runs until Ctrl-C.',
  options: {
    environments: text('LIST', 'environments to run: test, live or both', 'test'),
    replicas: whole('N', 'processes of every service, 1 to 4; the gateways have a port each', 1),
    databases: whole(
      'N',
      `servers of Postgres, 1 to ${MAX_DATABASES}: the busiest services get their own first`,
      1,
    ),
    'read-replicas': flag('a streaming replica of each server of Postgres answers lists and sums'),
    traces: flag('trace every call and show the traces on a page'),
    dashboards: flag('show the dashboards of an installation on a page, with Prometheus'),
    fresh: flag('start without the state of earlier runs'),
    watch: flag('replace a service when its source changes, as npm run dev does'),
    inspect: text('SERVICE', `with --watch: a debugger can attach to this service, at port ${INSPECT_PORT}`),
  },
  notes: `Environment variables:

  RATE_LIMIT_SCALE             multiplies every request limit (default: 1)
  CHAIN_SLOT_MS                milliseconds per slot of the local chain (default: 400)
  CHAIN_CONTROL=1              enables the control methods of the local chain, for tests
  WALLET_HOURLY_CAP_MICRO, ENVIRONMENT_HOURLY_CAP_MICRO, HOURLY_CAPS_OF_WALLETS
                               the hourly caps on payments
  OPERATORS                    names of the operators, comma separated (default: local)
  STATE_DIR                    folder of all state (default: .local)
  OTEL_EXPORTER_OTLP_ENDPOINT  the collector that receives traces
  POSTGRES_URL, NATS_URL, REDIS_URL
                               servers to use instead of our own; POSTGRES_URL_SETTLEMENT, … of a service
                               with a server of its own`,
});

const starting = new AbortController();
let running: RunningStack | undefined;
let watched: Watch | undefined;
let stopping = false;

async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  if (!running) return starting.abort(new Error('stopped'));
  print('Stopping …');
  await watched?.stop();
  await running.stop();
  print('Stopped.');
  process.exit(0);
}

const interrupt = createInterrupts({ stop: () => void stop(), abort: () => running?.abort() });
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt);
// The terminal is gone, or npm, its first process.
process.on('SIGHUP', () => void stop());
stopWithNpm();

try {
  const startedAt = Date.now();
  if (values.dashboards) ensurePrometheus(print);
  print('Starting …');
  if (values.watch) watched = await startWatch({ print, inspected: values.inspect });
  running = await startStack({
    ...(watched && { serviceCommand: watched.serviceCommand }),
    ...fromCommandLine(),
    ...fromVariables(process.env),
    print,
    signal: starting.signal,
  });
  print(`Ready after ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
  printAddresses(running.stack, running.stackFile);
  await makeOnePayment(running);
  watched?.replaceIn(running);
  if (!stopping) print(`\n${values.watch ? 'Watching services/ and shared/' : 'Running'} until Ctrl-C.`);
} catch (error) {
  if (stopping) {
    print('Stopped.');
    process.exit(0);
  }
  console.error(`\n${(error as Error).message}`);
  await running?.stop();
  process.exit(1);
}

function fromCommandLine() {
  const environments = [...new Set(values.environments.split(',').map((name) => name.trim()))];
  const unknown = environments.filter((name) => name !== 'test' && name !== 'live');
  if (unknown.length > 0)
    throw new Error(`--environments must be test, live or both, not ${unknown.join(', ')}`);
  // Four instances of eight services with pools of ten use all connections of the database server.
  if (values.replicas < 1 || values.replicas > 4) throw new Error('--replicas must be a number from 1 to 4');
  const instances = replicas(values.replicas);
  const { databases, 'read-replicas': readReplicas, fresh, traces, dashboards } = values;
  if (databases < 1 || databases > MAX_DATABASES)
    throw new Error(`--databases must be a number from 1 to ${MAX_DATABASES}`);
  return { environments, databases, readReplicas, fresh, traces, dashboards, instances };
}

function fromVariables(env: NodeJS.ProcessEnv) {
  const { NATS_URL, REDIS_URL, STATE_DIR, CHAIN_CONTROL, LOG_LEVEL, OPERATORS } = env;
  return {
    ...(OPERATORS ? { operators: operatorsIn(OPERATORS) } : {}),
    ...(STATE_DIR ? { stateDir: STATE_DIR } : {}),
    ...(LOG_LEVEL ? { logLevel: LOG_LEVEL } : {}),
    chainSlotMs: numberIn(env, 'CHAIN_SLOT_MS', 400),
    rateLimitScale: numberIn(env, 'RATE_LIMIT_SCALE', 1),
    nameServers: env.DOMAIN_NAME_SERVERS,
    hourlyCaps: Object.fromEntries(
      Object.keys(hourlyCapsConfig).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
    ),
    chainControl: CHAIN_CONTROL === '1',
    external: {
      ...(hasDatabases(env, 'POSTGRES_URL') ? { postgresUrls: databasesIn(env, 'POSTGRES_URL') } : {}),
      ...(NATS_URL ? { natsUrl: NATS_URL } : {}),
      ...(REDIS_URL ? { redisUrl: REDIS_URL } : {}),
    },
  };
}

function operatorsIn(text: string): string[] {
  const { data, error } = z.array(OperatorName).safeParse(text.split(',').map((name) => name.trim()));
  if (error) throw new Error(`OPERATORS: a name ${error.issues[0]!.message}`);
  return data;
}

function numberIn(env: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  const text = env[name];
  if (!text) return otherwise;
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0)
    throw new Error(`${name} must be a number of 0 or more, not "${text}"`);
  return value;
}

/** npm passes signals on. A kill -9 of npm, however, would leave this process running unnoticed. */
function stopWithNpm(): void {
  const npm = process.env.npm_lifecycle_event ? identify(process.ppid) : undefined;
  if (!npm) return;
  setInterval(() => {
    if (process.ppid !== npm.pid || !isRunning(npm)) void stop();
  }, 500).unref();
}

function printAddresses(stack: Stack, stackFile: string): void {
  const rows = {
    API: stack.gateway_urls.join(', '),
    Console: stack.console_url,
    Docs: `${stack.gateway_url}/`,
    'API reference': stack.docs_url,
    'Caught mail': stack.mail_url,
    ...Object.fromEntries(
      Object.entries(stack.environments).map(([name, { rpc_url }]) => [`Chain (${name})`, rpc_url]),
    ),
    Metrics: Object.entries(stack.metrics)
      .map(([name, url]) => `${name} ${new URL(url).port}`)
      .join(', '),
    Traces: stack.traces_url ?? 'npm start -- --traces',
    Dashboards: stack.dashboards_url ?? 'npm start -- --dashboards',
    'For tools': path.relative(process.cwd(), stackFile),
    Logs: `${path.relative(process.cwd(), path.join(path.dirname(stackFile), 'logs'))}/`,
  };
  for (const [name, value] of Object.entries(rows)) print(`  ${name.padEnd(16)} ${value}`);
}

/** The stack runs whether or not the payment succeeds, so that a failure can be investigated. */
async function makeOnePayment(running: RunningStack): Promise<void> {
  const { transcript } = await import('./seed/transcript.ts');
  try {
    await transcript(running.stack, print, path.dirname(running.stackFile));
  } catch (error) {
    console.error(`\nThe payment failed: ${(error as Error).message}`);
  }
}
