import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Bus } from '../bus/connect.ts';
import { publish, reachesBus } from '../bus/publish.ts';
import { isEventSubject } from '../contract/service.ts';
import type { DbClock } from '../db/clock.ts';
import { type Db, type Pool, sql } from '../db/pool.ts';
import { currentPauseMs, noteActivity, rest } from '../lib/activity.ts';
import { failpoint } from '../lib/failpoint.ts';
import type { Logger } from '../lib/telemetry/logger.ts';
import { countEvents, eventList, MAX_EVENTS } from './event-list.ts';
import { createHandOver } from './hand-over.ts';
import { type OutboxRow, outboxRow } from './outbox.ts';
import { clearOutbox } from './sent-events.ts';

/**
 * Publishes the committed rows of the outbox. The fast path publishes immediately. The sweep
 * publishes rows that remain after a crash or while the bus is unavailable. It runs every second,
 * and every five seconds while the process is quiet (shared/lib/activity.ts).
 */

/**
 * The published rows of this time are deleted in one commit. After a crash before the commit they
 * are published again, and the stream drops the repeats.
 */
const DELETE_AFTER_MS = 1200;
/**
 * A row whose receiver has not answered after this time gets a lease of its own, before the sweep
 * may publish it. A process that stops waits no longer, and publishes it.
 */
const UNANSWERED_AFTER_MS = 400;
const UNANSWERED_LEASE_MS = 4000;
const SWEEP_EVERY_MS = 1000;
const SWEEP_BATCH = 100;
/** The lease of a row for the sweep that claimed it. */
const LEASE_MS = 15_000;
/** A sweep stops well before its lease ends, so that no other replica publishes the same rows. */
const SWEEP_FOR_MS = 5000;

type Clock = Pick<DbClock, 'setBy'>;

export type Relay = {
  /**
   * Publishes committed rows. Never throws: rows that fail are left to the sweep.
   * @param batchWindowMs how long events wait for others, if no caller waits for them. Every
   * process that handles them then reads and writes a batch. The window is well below the delay of
   * the sweep
   */
  dispatch: (rows: readonly OutboxRow[], options?: { batchWindowMs: number }) => void;
  stop: () => Promise<void>;
};

/** The relay as handlers use it: they hand over what they have committed. */
export type Outbox = Pick<Relay, 'dispatch'>;

/** The database's time, and whether there are rows for the sweep. */
const readState = (db: Db) =>
  db.one(sql.type(z.object({ now: z.number(), due: z.boolean() }))`
    select app_now() as now, exists (select from outbox where next_at <= app_now()) as due`);

/** Leases rows to this sweep that the fast path or a crashed sweep did not publish. */
const claimDue = (db: Db): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    with due as (
      select outbox_id from outbox where next_at <= app_now()
      order by outbox_id limit ${SWEEP_BATCH} for update skip locked
    ), claimed as (
      update outbox set next_at = app_now() + make_interval(secs => ${LEASE_MS / 1000}::float8)
      from due where outbox.outbox_id = due.outbox_id
      returning outbox.outbox_id, subject, msg_id, payload, traceparent
    )
    select * from claimed order by outbox_id`);

/** Renews the leases of rows whose receivers have not answered. */
const extendRows = (db: Db, ids: readonly bigint[]): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update outbox set next_at = app_now() + make_interval(secs => ${UNANSWERED_LEASE_MS / 1000}::float8)
    where outbox_id = any(${sql.array(ids, 'int8')})`);

/** Releases claimed rows that were not tried or did not reach the bus. */
const releaseRows = (db: Db, ids: readonly bigint[]): Promise<unknown> =>
  db.query(
    sql.typeAlias(
      'void',
    )`update outbox set next_at = app_now() where outbox_id = any(${sql.array(ids, 'int8')})`,
  );

/** The rows of one message: a job, or events of one subject. */
type Rows = readonly [OutboxRow, ...OutboxRow[]];

const sum = (rows: Rows): number => rows.reduce((all, row) => all + countEvents(row), 0);

/**
 * A message for each job, because a job is executed, repeated and acknowledged alone. Events of one
 * subject share a message: every process that handles them then reads, acknowledges and writes
 * once. Their order is kept.
 */
const messagesOf = (rows: readonly OutboxRow[]): Rows[] => {
  const messages: [OutboxRow, ...OutboxRow[]][] = [];
  const open = new Map<string, [OutboxRow, ...OutboxRow[]]>();
  for (const row of rows) {
    const started = open.get(row.subject);
    if (started !== undefined && sum(started) + countEvents(row) <= MAX_EVENTS) {
      started.push(row);
      continue;
    }
    const message: [OutboxRow, ...OutboxRow[]] = [row];
    messages.push(message);
    if (isEventSubject(row.subject)) open.set(row.subject, message);
  }
  return messages;
};

/**
 * A list of events has an id of its own. If the server stores it and the publisher does not learn
 * that, the sweep publishes its events again, one by one.
 */
const send = async (bus: Bus, rows: Rows): Promise<void> => {
  const [{ subject, msg_id: first, payload, traceparent }, ...others] = rows;
  const message =
    others.length === 0 ? { msgId: first, payload } : { msgId: randomUUID(), payload: eventList(rows) };
  // A row of several events has the traces of their commits in its payload.
  const [firstTrace = null, ...otherTraces] = eventList(rows).map((entry) => entry.traceparent ?? null);
  await failpoint('outbox.beforePublish');
  await publish(bus, { subject, ...message, traceparent: traceparent ?? firstTrace, otherTraces });
  await failpoint('outbox.afterPublish');
};

/**
 * One sweep reads whether rows are due, which sets the clock of the process, too. It claims them,
 * publishes them in order and deletes them. These are steps of their own, so that no transaction is
 * open during a network call. A row that fails keeps its lease, and the others are released, so a
 * row that can never be published does not block those behind it. A process that does not reach the
 * bus claims nothing and releases everything, because another replica may reach it.
 * @returns a function that resolves with the number of published rows
 */
const createSweep = (pool: Pool, bus: Bus, clock: Clock, isStopping: () => boolean) => async () => {
  const { due } = await clock.setBy(() => readState(pool));
  if (!due || !(await reachesBus(bus))) return 0;
  const rows = await claimDue(pool);
  const until = performance.now() + SWEEP_FOR_MS;
  let done = 0;
  let failed = 0;
  try {
    for (const row of rows) {
      if (isStopping() || performance.now() > until) break;
      failed = 1;
      await send(bus, [row]);
      failed = 0;
      done += 1;
    }
  } catch (error) {
    if (!(await reachesBus(bus))) failed = 0;
    throw error;
  } finally {
    const ids = rows.map((row) => row.outbox_id);
    if (done > 0) await clearOutbox(pool, ids.slice(0, done));
    if (done + failed < ids.length) await releaseRows(pool, ids.slice(done + failed));
  }
  return done;
};

/** Sweeps until the signal aborts. */
const sweepUntil = async (
  signal: AbortSignal,
  sweep: () => Promise<number>,
  logger: Logger,
): Promise<void> => {
  // A start finds what a crash has left.
  noteActivity();
  while (!signal.aborted) {
    const swept = await sweep().catch((error: unknown) => {
      logger.warn({ err: error }, 'outbox sweep failed');
      noteActivity();
      return 0;
    });
    if (swept > 0) noteActivity();
    if (swept < SWEEP_BATCH) await rest(currentPauseMs(SWEEP_EVERY_MS), { pauseMs: SWEEP_EVERY_MS, signal });
  }
};

/** Deletes rows that were published or handed over, in batches. */
const createDeletion = (pool: Pool, logger: Logger) => {
  let done: bigint[] = [];
  let published: bigint[] = [];
  let flushing: Promise<void> | undefined;
  const flush = async () => {
    await sleep(DELETE_AFTER_MS);
    const [ids, kept] = [done, published];
    [done, published] = [[], []];
    flushing = undefined;
    await clearOutbox(pool, ids, kept).catch((error: unknown) =>
      logger.warn({ err: error }, 'published outbox rows not deleted, they will be published again'),
    );
  };
  const add = (rows: Rows, isPublished: boolean): void => {
    const ids = rows.map((row) => row.outbox_id);
    done.push(...ids);
    if (isPublished) published.push(...ids);
    flushing ??= flush();
  };
  return {
    published: (rows: Rows): void => add(rows, true),
    handedOver: (row: OutboxRow): void => add([row], false),
    finish: async (): Promise<void> => flushing,
  };
};

/**
 * Keeps the sweep from rows whose receivers have not answered yet, which happens under load. A
 * statement for all of them, and none while they answer soon.
 */
const createLeases = (pool: Pool, logger: Logger) => {
  const extendAt = new Map<OutboxRow, number>();
  let running = false;
  const extend = async (): Promise<void> => {
    const now = performance.now();
    const due = [...extendAt].filter(([, at]) => at <= now).map(([row]) => row);
    for (const row of due) extendAt.set(row, now + UNANSWERED_LEASE_MS / 2);
    if (due.length === 0) return;
    await extendRows(
      pool,
      due.map((row) => row.outbox_id),
    ).catch((error: unknown) => logger.warn({ err: error }, 'outbox rows not leased again'));
  };
  const run = async (): Promise<void> => {
    while (extendAt.size > 0) {
      await sleep(UNANSWERED_AFTER_MS);
      await extend();
    }
    running = false;
  };
  return {
    add: (row: OutboxRow): void => {
      extendAt.set(row, performance.now() + UNANSWERED_AFTER_MS);
      if (running) return;
      running = true;
      void run();
    },
    delete: (row: OutboxRow): void => void extendAt.delete(row),
  };
};

/** Hands rows over or publishes them, and deletes them then. */
const createSending = (pool: Pool, bus: Bus, logger: Logger, stopped: AbortSignal) => {
  const sending = new Set<Promise<unknown>>();
  const deletion = createDeletion(pool, logger);
  const leases = createLeases(pool, logger);
  const handOver = createHandOver(bus);
  const givenUp = new Promise<false>((resolve) => {
    const giveUp = () => void setTimeout(resolve, UNANSWERED_AFTER_MS, false);
    stopped.addEventListener('abort', giveUp, { once: true });
  });

  const track = (work: Promise<unknown>): void => {
    const tracked: Promise<unknown> = work.finally(() => sending.delete(tracked));
    sending.add(tracked);
  };

  const publishMessage = async (rows: Rows): Promise<void> => {
    try {
      await send(bus, rows);
      deletion.published(rows);
    } catch (error) {
      noteActivity();
      logger.warn({ err: error, subject: rows[0].subject }, 'publish failed, left to the sweep');
    }
  };

  const handOverRow = async (row: OutboxRow, accepted: Promise<boolean>): Promise<void> => {
    leases.add(row);
    const isAccepted = await Promise.race([accepted, givenUp]);
    leases.delete(row);
    if (isAccepted) deletion.handedOver(row);
    else await publishMessage([row]);
  };

  return {
    /** Never throws: rows that fail are left to the sweep. */
    sendAll: (all: readonly OutboxRow[]): void => {
      for (const rows of messagesOf(all.filter(({ parts }) => parts === undefined)))
        track(publishMessage(rows));
      for (const { row, accepted } of handOver(all.filter(({ parts }) => parts !== undefined)))
        track(handOverRow(row, accepted));
    },
    finish: async (): Promise<void> => {
      await Promise.allSettled(sending);
      await deletion.finish();
    },
  };
};

/**
 * Starts publishing a service's outbox. Any number of replicas may run it.
 * @param clock is set by each sweep
 */
export const startRelay = (pool: Pool, bus: Bus, clock: Clock, logger: Logger): Relay => {
  const stopped = new AbortController();
  const { sendAll, finish } = createSending(pool, bus, logger, stopped.signal);
  const sweep = createSweep(pool, bus, clock, () => stopped.signal.aborted);
  let ofTurn: OutboxRow[] = [];
  let waiting: OutboxRow[] = [];
  let batching: Promise<void> | undefined;

  const sendTurn = () => {
    const rows = ofTurn;
    ofTurn = [];
    sendAll(rows);
  };

  const sendBatch = async (batchWindowMs: number) => {
    await sleep(batchWindowMs, undefined, { signal: stopped.signal }).catch(() => {});
    const rows = waiting;
    waiting = [];
    batching = undefined;
    sendAll(rows);
  };

  const running = sweepUntil(stopped.signal, sweep, logger);

  return {
    dispatch: (rows, { batchWindowMs } = { batchWindowMs: 0 }) => {
      if (batchWindowMs === 0) {
        // Calls that shared a statement dispatch one after the other in one turn.
        if (ofTurn.length === 0) process.nextTick(sendTurn);
        ofTurn.push(...rows);
        return;
      }
      waiting.push(...rows);
      batching ??= sendBatch(batchWindowMs);
    },
    stop: async () => {
      stopped.abort();
      sendTurn();
      await batching;
      await running.catch(() => {});
      await finish();
    },
  };
};
