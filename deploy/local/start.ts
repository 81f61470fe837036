// `npm start`: the whole system on this machine, until Ctrl-C.
import path from 'node:path';
import { hourlyCapsConfig } from '../../shared/db/hourly-caps.ts';
import { readCommandLine } from './processes/command-line.ts';
import { identify, isRunning } from './processes/process-identity.ts';
import { replicas } from './stack/programs.ts';
import { type RunningStack, startStack } from './stack/stack.ts';
import type { Stack } from './stack/stack-file.ts';

const usage = `Usage: npm start -- [options]

  --environments test,live   environments to run (default: test)
  --replicas 2               processes of every service, 1 to 4 (default: 1); the gateways have a port each
  --traces                   trace every call, with a page to look at them
  --fresh                    begin without the state of earlier runs
  --help                     this text

In the environment: RATE_LIMIT_SCALE (default 1) multiplies every request limit, CHAIN_SLOT_MS (default 400)
sets the pace of the local chain, WALLET_HOURLY_CAP_MICRO, ENVIRONMENT_HOURLY_CAP_MICRO and HOURLY_CAPS_OF_WALLETS are
what may be paid in an hour, CHAIN_CONTROL=1 lets tests control it, STATE_DIR (default .local) holds all
state, OTEL_EXPORTER_OTLP_ENDPOINT ships traces to a collector, POSTGRES_URL, NATS_URL and REDIS_URL name servers to use
instead of own ones.`;

const print = (line: string): void => console.log(line);

const { values } = readCommandLine(usage, {
  options: {
    environments: { type: 'string', default: 'test' },
    replicas: { type: 'string', default: '1' },
    traces: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
  },
});

const starting = new AbortController();
let running: RunningStack | undefined;
let stopping = false;

async function stop(): Promise<void> {
  if (stopping) return running?.abort();
  stopping = true;
  if (!running) return starting.abort(new Error('stopped'));
  print('Stopping …');
  await running.stop();
  print('Stopped.');
  process.exit(0);
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => void stop());
stopWithNpm();

try {
  const startedAt = Date.now();
  print('Starting …');
  running = await startStack({
    ...fromCommandLine(),
    ...fromVariables(process.env),
    print,
    signal: starting.signal,
  });
  print(`Ready after ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
  printAddresses(running.stack, running.stackFile);
  await makeOnePayment(running);
  if (!stopping) print('\nRunning until Ctrl-C.');
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
    throw new Error(`There are the environments test and live, not ${unknown.join(', ')}.`);
  // Four times eight pools of ten are what the database server has connections for.
  if (!/^[1-4]$/.test(values.replicas)) throw new Error('--replicas must be a number from 1 to 4');
  const instances = replicas(Number(values.replicas));
  return { environments, fresh: values.fresh, traces: values.traces, instances };
}

function fromVariables(env: NodeJS.ProcessEnv) {
  const { POSTGRES_URL, NATS_URL, REDIS_URL, STATE_DIR, CHAIN_CONTROL, LOG_LEVEL } = env;
  return {
    ...(STATE_DIR ? { stateDir: STATE_DIR } : {}),
    ...(LOG_LEVEL ? { logLevel: LOG_LEVEL } : {}),
    chainSlotMs: numberIn(env, 'CHAIN_SLOT_MS', 400),
    rateLimitScale: numberIn(env, 'RATE_LIMIT_SCALE', 1),
    hourlyCaps: Object.fromEntries(
      Object.keys(hourlyCapsConfig).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
    ),
    chainControl: CHAIN_CONTROL === '1',
    external: {
      ...(POSTGRES_URL ? { postgresUrl: POSTGRES_URL } : {}),
      ...(NATS_URL ? { natsUrl: NATS_URL } : {}),
      ...(REDIS_URL ? { redisUrl: REDIS_URL } : {}),
    },
  };
}

function numberIn(env: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  const text = env[name];
  if (!text) return otherwise;
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0)
    throw new Error(`${name} must be a number of 0 or more, not "${text}"`);
  return value;
}

/** npm passes signals on, but a kill -9 of it would leave us running without anybody knowing. */
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
    'API reference': stack.docs_url,
    'Caught mail': stack.mail_url,
    ...Object.fromEntries(
      Object.entries(stack.environments).map(([name, { rpc_url }]) => [`Chain (${name})`, rpc_url]),
    ),
    Metrics: Object.entries(stack.metrics)
      .map(([name, url]) => `${name} ${new URL(url).port}`)
      .join(', '),
    Traces: stack.traces_url ?? 'npm start -- --traces',
    'For tools': path.relative(process.cwd(), stackFile),
    Logs: `${path.relative(process.cwd(), path.join(path.dirname(stackFile), 'logs'))}/`,
  };
  for (const [name, value] of Object.entries(rows)) print(`  ${name.padEnd(16)} ${value}`);
}

/** The stack is up whether or not the payment works, so that what went wrong can be looked at. */
async function makeOnePayment(running: RunningStack): Promise<void> {
  const { transcript } = await import('./seed/transcript.ts');
  try {
    await transcript(running.stack, print, path.dirname(running.stackFile));
  } catch (error) {
    console.error(`\nThe payment failed: ${(error as Error).message}`);
  }
}
