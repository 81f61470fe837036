import { answerBuilds } from './bus/builds.ts';
import { type Bus, connectBus, drainBus, pingBus } from './bus/connect.ts';
import { answerGauges } from './bus/gauges.ts';
import type { Serving } from './bus/serve.ts';
import { createWaiting, type Waiting } from './bus/wake.ts';
import type { ServiceName } from './contract/service.ts';
import { createDbClock, type DbClock } from './db/clock.ts';
import { openPool, type Pool, pingPool } from './db/pool.ts';
import { createReads, type Reads } from './db/reads.ts';
import { unfitSchema } from './db/schema-check.ts';
import { createCatchUp } from './events/catch-up.ts';
import type { Consuming, Quarantine } from './events/consume.ts';
import { outboxGauges } from './events/outbox.ts';
import { type Outbox, type Relay, startRelay } from './events/relay.ts';
import { purgeSent } from './events/sent-events.ts';
import { setCell } from './lib/cell.ts';
import type { Clock } from './lib/clock.ts';
import { type HealthServer, startHealthServer } from './lib/http.ts';
import { everyMs, type Periodic } from './lib/periodic.ts';
import { onShutdown } from './lib/shutdown.ts';
import { createLogger, type LogFormat, type Logger } from './lib/telemetry/logger.ts';
import { type GaugeCollector, registerGauges } from './lib/telemetry/metrics.ts';
import { releaseStartUpMemory } from './lib/telemetry/start-up-memory.ts';
import { startTelemetry, type Telemetry, type TelemetryConfig } from './lib/telemetry/telemetry.ts';
import { quarantineGauges, quarantineInto, retryReadable } from './operator/quarantine.ts';

/** A loss of the stream of events is rare, and what was missed is late already. */
const CATCH_UP_EVERY_MS = 30_000;
const PURGE_EVERY_MS = 60_000;
const RETRY_EVERY_MS = 60_000;

/** The common parts of every service of an environment. */
export type Base = {
  logger: Logger;
  pool: Pool;
  reads: Reads;
  /** Closes the connections of `reads` to a replica. */
  endReads: () => Promise<void>;
  bus: Bus;
  clock: DbClock;
  relay: Relay;
  waiting: Waiting;
  quarantine: Quarantine;
  telemetry: Telemetry;
  health: HealthServer;
};

/** What a service is built on: its base without the parts that only the process uses. */
export type ServiceBase = Omit<Base, 'relay' | 'clock' | 'telemetry' | 'health' | 'endReads'> & {
  relay: Outbox;
  clock: Pick<DbClock, 'now'>;
};

/** What handlers read and record with. */
export type Records = {
  pool: Pool;
  /** For lists and sums that decide nothing. */
  reads: Reads;
  logger: Logger;
  relay: Outbox;
  /** The database's clock, epoch milliseconds. */
  clock: Clock;
};

export const recordsOf = ({ pool, reads, logger, relay, clock }: ServiceBase): Records => ({
  pool,
  reads,
  logger,
  relay,
  clock: clock.now,
});

/** A running service: what it serves, consumes, repeats and measures. */
export type Service = {
  serving: Serving;
  consuming: Consuming[];
  /** Its lanes, and what it accepts for them. */
  lanes?: { stop: () => Promise<void> }[];
  jobs: Periodic[];
  gauges?: GaugeCollector[];
};

type Config = TelemetryConfig & {
  CELL: number;
  HTTP_HOST: string;
  HTTP_PORT: number;
  LOG_LEVEL: string;
  LOG_FORMAT?: LogFormat | undefined;
  NATS_URL: string;
  NATS_NKEY_SEED: string;
  POSTGRES_URL: string;
  POSTGRES_POOL: number;
  POSTGRES_REPLICA_URL?: string | undefined;
  TLS_CA_FILE?: string | undefined;
};

/**
 * The pool on the service's schema. A service never runs on tables of another build: it would fail
 * at the first statement that they do not fit, in the middle of a payment.
 */
const openSchema = async (service: ServiceName, config: Config, logger: Logger): Promise<Pool> => {
  const options = { max: config.POSTGRES_POOL, name: service };
  const pool = await openPool(config.POSTGRES_URL, options, logger);
  const unfit = await unfitSchema(pool, service);
  if (unfit === undefined) return pool;
  logger.fatal(unfit);
  process.exit(78); // EX_CONFIG of sysexits.h
};

/** Opens the health port, and waits until the service is connected to its schema and its bus. */
export const openBase = async (service: ServiceName, config: Config): Promise<Base> => {
  setCell(config.CELL);
  const logger = createLogger(service, config.LOG_LEVEL, config.LOG_FORMAT);
  const health = await startHealthServer({ host: config.HTTP_HOST, port: config.HTTP_PORT });
  const [telemetry, pool, bus] = await Promise.all([
    startTelemetry(service, config, logger),
    openSchema(service, config, logger),
    connectBus({
      url: config.NATS_URL,
      user: service,
      seed: config.NATS_NKEY_SEED,
      caFile: config.TLS_CA_FILE,
      logger,
    }),
  ]);
  const clock = await createDbClock(pool);
  const { reads, end: endReads } = createReads(pool, {
    replicaUrl: config.POSTGRES_REPLICA_URL,
    max: config.POSTGRES_POOL,
    name: service,
    logger,
  });
  return {
    logger,
    pool,
    reads,
    endReads,
    bus,
    clock,
    relay: startRelay(pool, bus, clock, logger),
    waiting: createWaiting(bus, service),
    quarantine: quarantineInto(pool, logger),
    telemetry,
    health,
  };
};

/** Flushes the outbox, drains the bus, closes the pool and the health port. */
export const closeBase = async ({ relay, waiting, bus, pool, endReads, health }: Base): Promise<void> => {
  await Promise.all([relay.stop(), waiting.stop()]);
  await drainBus(bus);
  await Promise.all([pool.end(), endReads()]);
  await health.close();
};

/** A service that consumes events compares the stream with what it has handled. */
const startCatchUp = (base: Base, consuming: readonly Consuming[]) => {
  const { run, gauges, isNeeded } = createCatchUp({ ...base, consuming });
  if (!isNeeded) return { gauges: [], jobs: [] };
  return { gauges: [gauges], jobs: [everyMs(CATCH_UP_EVERY_MS, 'catchUp', run, base.logger)] };
};

const stopIntake = ({ serving, consuming, lanes = [] }: Service) =>
  Promise.all([serving, ...consuming, ...lanes].map((each) => each.stop()));

const stopJobs = ({ jobs }: Service) => Promise.all(jobs.map((job) => job.stop()));

/** Takes no more calls and messages, and ends the jobs. The base stays open. */
export const stopService = async (service: Service): Promise<void> => {
  await stopIntake(service);
  await stopJobs(service);
};

/**
 * Reports readiness, registers the gauges, and arranges the shutdown: readiness 503, no more calls
 * and messages, jobs end, the outbox is flushed, the bus is drained, the pool is closed
 * (docs/design/settle.md, rule 17).
 */
export const runService = async (base: Base, service: Service): Promise<void> => {
  const { pool, bus, logger, health } = base;
  // First, because calls are already served, and a signal must let them finish.
  onShutdown(logger, [
    health.drain,
    () => stopIntake(service),
    () => stopJobs(service),
    () => closeBase(base),
    base.telemetry.stop,
  ]);
  const { gauges, jobs } = startCatchUp(base, service.consuming);
  const retry = () => retryReadable(pool, service.consuming, logger);
  service.jobs.push(
    ...jobs,
    everyMs(PURGE_EVERY_MS, 'purgeSentEvents', purgeSent(pool), logger),
    everyMs(RETRY_EVERY_MS, 'retryQuarantined', retry, logger),
  );
  const collectors = [outboxGauges(pool), quarantineGauges(pool), ...gauges, ...(service.gauges ?? [])];
  answerGauges(bus, registerGauges(collectors, logger));
  // The server answers after it has accepted the subscriptions, so a ready service receives calls.
  // A reconnect restores them.
  answerBuilds(bus);
  await pingBus(bus).catch(() => {});
  releaseStartUpMemory();
  health.begin({ postgres: () => pingPool(pool), nats: () => pingBus(bus) });
  logger.info({ port: health.port }, 'ready');
};
