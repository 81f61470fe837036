#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import pino from 'pino';
import { useProxies } from '../../../sdk/src/paywall/adapter.ts';
import { SettingsError } from '../ground/yaml-file.ts';
import { fileSchema } from '../settings/config.ts';
import { type Command, readCommand, readSettings, type Settings, USAGE } from '../settings/settings.ts';
import { startTracing } from '../telemetry/tracing.ts';
import { checkGate } from './check.ts';
import { onEndOfNpx } from './npx.ts';
import { startGate } from './start.ts';
import { checkStart } from './start-check.ts';

/** The level by which programs end that were used wrongly (sysexits.h). */
const USAGE_CODE = 64;
/** The level by which programs end that found a mistake of their own. */
const SOFTWARE_CODE = 70;
const FLUSH_MS = 500;

const refuse = (error: unknown): never => {
  if (!(error instanceof SettingsError)) throw error;
  process.stderr.write(`quittance-gate: ${error.message}\n`);
  process.exit(USAGE_CODE);
};

const orRefuse = <T>(make: () => T): T => {
  try {
    return make();
  } catch (error) {
    return refuse(error);
  }
};

type WithSettings = Extract<Command, { kind: 'run' | 'check' }>;
const read = (command: WithSettings): Settings =>
  readSettings(command, process.env, (name) => readFileSync(name, 'utf8'));

/** Prints what a probe of the running gate finds. It ends with 1 if something is wrong. */
const check = async (command: WithSettings): Promise<void> => {
  await useProxies(process.env, () => import('undici'));
  const findings = await checkGate(orRefuse(() => read(command)));
  for (const { probe, fault } of findings)
    process.stdout.write(fault === null ? `ok     ${probe}\n` : `wrong  ${probe}: ${fault}\n`);
  process.exitCode = findings.some(({ fault }) => fault !== null) ? 1 : 0;
};

const run = async (command: WithSettings): Promise<void> => {
  const settings = orRefuse(() => read(command));
  await useProxies(process.env, () => import('undici'));
  // One write for many lines. What is left is written once in a while, and at the end.
  const lines = pino.destination({ dest: 1, minLength: 4096, sync: false, periodicFlush: FLUSH_MS });
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, lines);
  await checkStart(settings, log).catch(refuse);
  const tracing = await startTracing(process.env, log).catch(refuse);
  const gate = await startGate(settings, log, tracing).catch(refuse);
  const { host } = settings.listen;
  log.info(
    {
      listen: `${host}:${gate.port}`,
      operations: `${settings.operations.host}:${gate.operationsPort}`,
      upstream: settings.upstream?.origin ?? null,
    },
    'the gate serves',
  );
  lines.flush();
  process.on('SIGHUP', () => {
    try {
      gate.reload(read(command));
      gate.reloaded('ok');
      log.info({}, 'the settings are loaded again');
    } catch (error) {
      gate.reloaded('failed');
      log.error({ error: (error as Error).message }, 'the settings are wrong, the old ones stay');
    }
    lines.flush();
  });
  let isStopping = false;
  const stop = async (code: number) => {
    if (isStopping) return;
    isStopping = true;
    log.info({}, 'the gate ends');
    await gate
      .stop()
      .catch((error: unknown) => log.error({ error: String(error) }, 'the gate does not end well'));
    lines.flushSync();
    process.exit(code);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(0));
  onEndOfNpx(process.env, () => void stop(0));
  // A mistake of ours. The state of the process is unknown, so it serves the open calls, and ends.
  process.on('uncaughtException', (error) => {
    log.error({ error: String(error?.stack ?? error) }, 'an error was not handled');
    lines.flush();
    void stop(SOFTWARE_CODE);
  });
};

const command = orRefuse(() => readCommand(process.argv.slice(2)));
if (command.kind === 'usage') process.stdout.write(USAGE);
else if (command.kind === 'schema') process.stdout.write(`${JSON.stringify(fileSchema(), null, 2)}\n`);
else if (command.kind === 'check') await check(command);
else await run(command);
