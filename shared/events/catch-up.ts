import { z } from 'zod';
import { call } from '../bus/call.ts';
import type { Bus } from '../bus/connect.ts';
import { encode } from '../bus/envelope.ts';
import { type DurableState, readDurable, readStream, type StreamState } from '../bus/stream-state.ts';
import { type Durable, durables, STREAMS } from '../bus/topology.ts';
import { contracts } from '../contract/index.ts';
import { EVENT_DAYS, type listSentEvents } from '../contract/sent-events.ts';
import type { BusUser, ServiceContract, ServiceName } from '../contract/service.ts';
import { type Db, type Pool, sql } from '../db/pool.ts';
import type { Logger } from '../lib/telemetry/logger.ts';
import { count, type GaugeCollector } from '../lib/telemetry/metrics.ts';
import { isUnavailable } from '../lib/unavailable.ts';
import { type Consuming, type Quarantine, redeliverTo, UnreadableMessage } from './consume.ts';

/**
 * The way back to events that the stream lost before this service had handled them: it was full, it
 * was purged, or its server lost its data. The publisher still has them (sent-events.ts), so the
 * stream is only what wakes a subscriber.
 */

/**
 * Events are read from so long before the last message that was surely handled, and until so long
 * after the loss was seen: their publisher keeps them a moment after it has published them.
 */
const MARGIN = sql.fragment`interval '2 minutes'`;

const Position = z.object({
  stream_created_at: z.string(),
  seq: z.bigint().transform(Number),
  /** ISO 8601: publishers are asked for what they sent since then. Null: nothing is missed. */
  missed_since: z.string().nullable(),
  /** No publisher can add anything to what was missed. */
  is_complete: z.boolean().nullable(),
});
type Position = z.infer<typeof Position>;

const shown = sql.fragment`stream_created_at, seq, read_until <= app_now() as is_complete,
  to_char(missed_since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as missed_since`;

/** The position; null before the first run of a service. */
const findPosition = (db: Db): Promise<Position | null> =>
  db.maybeOne(sql.type(Position)`select ${shown} from stream_position`);

/** The first position: nothing is handled of all that publishers still have. */
const insertPosition = (db: Db, { createdAt }: StreamState): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into stream_position (stream_created_at, seq, at)
    values (${createdAt}, 0, app_now() - ${EVENT_DAYS} * interval '1 day')
    on conflict do nothing`);

/** Everything up to a message is handled, which was the newest one so long ago. */
const advance = (db: Db, { createdAt, seq, at }: Sample): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update stream_position set seq = ${BigInt(seq)},
      at = app_now() - ${(performance.now() - at) / 1000}::float8 * interval '1 second'
    where stream_created_at = ${createdAt} and seq < ${BigInt(seq)}`);

/**
 * Messages are lost. The position becomes that of the stream as it is now.
 * @returns null if another replica has changed the position, so the loss may be recorded
 */
const recordMissed = (
  db: Db,
  from: Position,
  { createdAt, lastSeq }: StreamState,
): Promise<Position | null> =>
  db.maybeOne(sql.type(Position)`
    update stream_position set missed_since = least(missed_since, at - ${MARGIN}), read_until = app_now() + ${MARGIN},
      stream_created_at = ${createdAt}, seq = ${BigInt(lastSeq)}, at = app_now()
    where stream_created_at = ${from.stream_created_at} and seq = ${BigInt(from.seq)}
    returning ${shown}`);

/** What was missed is read, by a reading that began when it was complete. */
const recordRead = (db: Db, missedSince: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update stream_position set missed_since = null, read_until = null
    where missed_since >= ${missedSince}::timestamptz and read_until <= app_now()`);

/** The newest message of a stream at a moment of `performance.now()`. */
type Sample = { createdAt: string; seq: number; at: number };

/**
 * Whether the stream has lost messages that were not surely handled: it is another one, its numbers
 * begin again, or its oldest message is not the next one.
 */
export const hasLost = (
  { stream_created_at, seq }: Pick<Position, 'stream_created_at' | 'seq'>,
  { createdAt, firstSeq, lastSeq }: Pick<StreamState, 'createdAt' | 'firstSeq' | 'lastSeq'>,
): boolean => stream_created_at !== createdAt || lastSeq < seq || firstSeq > seq + 1;

/** Whether all consumers have handled everything up to a message. */
export const haveHandled = (consumers: readonly DurableState[], seq: number): boolean =>
  consumers.every(({ waiting, handledSeq }) => waiting === 0 || handledSeq >= seq);

type Page = z.infer<ReturnType<typeof listSentEvents>['output']>;
type Publisher = ServiceContract & { internal: { listSentEvents: ReturnType<typeof listSentEvents> } };
/** So many events of a page are handled at a time. */
const AT_ONCE = 20;

/** Handles an event like a new delivery. */
const handle = async (
  { consuming, quarantine }: Pick<Deps, 'consuming' | 'quarantine'>,
  { subject, payload }: Page['events'][number],
): Promise<void> => {
  const body = encode(payload);
  try {
    await redeliverTo(consuming, { subject, body });
  } catch (error) {
    if (!(error instanceof UnreadableMessage)) throw error;
    await quarantine({ subject, body, reason: error.reason, isUnreadable: true });
  }
};

/**
 * Handles what a publisher has sent since a time. An event that fails does not keep others back.
 * @returns how many events there are, and the errors of those that failed
 * @throws if the publisher or the database does not answer
 */
const readFrom = async (
  deps: Pick<Deps, 'bus' | 'consuming' | 'quarantine'>,
  source: ServiceName,
  since: string,
): Promise<{ read: number; failures: unknown[] }> => {
  const publisher = contracts[source] as unknown as Publisher;
  const failures: unknown[] = [];
  let read = 0;
  let after: string | null = null;
  do {
    const page: Page = await call(deps.bus, publisher, 'listSentEvents', { since, after });
    for (let at = 0; at < page.events.length; at += AT_ONCE) {
      const some = page.events.slice(at, at + AT_ONCE);
      const ended = await Promise.allSettled(some.map((event) => handle(deps, event)));
      for (const each of ended) {
        if (each.status === 'fulfilled') continue;
        if (isUnavailable(each.reason)) throw each.reason;
        failures.push(each.reason);
      }
    }
    read += page.events.length;
    after = page.next;
  } while (after !== null);
  return { read, failures };
};

/**
 * Reads what every publisher has sent since a time, and handles it again.
 * @throws the first error, after everything else was handled
 */
const readAgain = async (deps: Deps, sources: readonly ServiceName[], since: string): Promise<number> => {
  const all = await Promise.allSettled(sources.map((source) => readFrom(deps, source, since)));
  const failures = all.flatMap((each) => (each.status === 'rejected' ? [each.reason] : each.value.failures));
  if (failures.length > 0) throw failures[0];
  return all.reduce((sum, each) => sum + (each.status === 'fulfilled' ? each.value.read : 0), 0);
};

type Deps = {
  bus: Bus;
  pool: Pool;
  logger: Logger;
  consuming: readonly Consuming[];
  quarantine: Quarantine;
};

const durablesOf = (user: BusUser): Durable[] =>
  durables().filter(({ service, stream }) => service === user && stream === STREAMS.events);

/**
 * Compares the stream with what this service has handled of it, and reads from the publishers what
 * may be missing. Any number of replicas may run it. Handlers accept repeats.
 * @returns the job, which resolves with whether something was missing, and the gauges of its last
 *   run
 */
export const createCatchUp = (deps: Deps) => {
  const { bus, pool, logger } = deps;
  const own = durablesOf(bus.user);
  const sources = [...new Set(own.map(({ filter }) => filter.split('.')[1] as ServiceName))];
  let seen: Sample | null = null;
  let latest: { used: number; waiting: number } | null = null;

  /**
   * The order matters. A position that was read first is not ahead of the stream, whatever other
   * replicas do. A message whose loss ended its wait is gone in the state that is read last.
   */
  const readAll = async () => {
    const position = await findPosition(pool);
    const consumers = await Promise.all(own.map((durable) => readDurable(bus, durable)));
    const at = performance.now();
    const stream = await readStream(bus, STREAMS.events);
    const used = stream.maxBytes > 0 ? stream.bytes / stream.maxBytes : 0;
    latest = { used, waiting: consumers.reduce((sum, { waiting }) => sum + waiting, 0) };
    return { position, consumers, stream, at };
  };

  const run = async (): Promise<boolean> => {
    const { position: known, consumers, stream, at } = await readAll();
    if (known === null) {
      await insertPosition(pool, stream);
      return true;
    }
    let position: Position | null = known;
    if (hasLost(known, stream)) {
      position = await recordMissed(pool, known, stream);
      // Another replica was faster.
      if (position === null) return true;
      count('quittance_event_stream_losses_total', 1);
      logger.warn(
        { since: position.missed_since },
        'the stream lost events; reading them from their publishers',
      );
    } else if (seen?.createdAt !== stream.createdAt || haveHandled(consumers, seen.seq)) {
      if (seen?.createdAt === stream.createdAt) await advance(pool, seen);
      seen = { createdAt: stream.createdAt, seq: stream.lastSeq, at };
    }
    const { missed_since, is_complete } = position;
    if (missed_since === null) return false;
    const read = await readAgain(deps, sources, missed_since);
    if (is_complete === true) await recordRead(pool, missed_since);
    logger.info({ read, since: missed_since }, 'missed events read');
    return true;
  };

  const gauges: GaugeCollector = {
    name: 'events',
    metrics: ['quittance_event_stream_used_ratio', 'quittance_events_waiting'],
    collect: async () =>
      latest === null
        ? []
        : [
            { metric: 'quittance_event_stream_used_ratio', value: latest.used },
            { metric: 'quittance_events_waiting', value: latest.waiting },
          ],
  };
  return { run, gauges, isNeeded: own.length > 0 };
};
