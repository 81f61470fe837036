import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '../bus/connect.ts';
import { publish, reachesBus } from '../bus/publish.ts';
import { type Db, type Pool, sql } from '../db/pool.ts';
import { failpoint } from '../lib/failpoint.ts';
import type { Logger } from '../lib/logger.ts';
import { type OutboxRow, outboxRow } from './outbox.ts';

/**
 * Publishes what was committed to the outbox. The fast path publishes at once; the sweep finds what
 * a crash or a server that does not answer left.
 */

/**
 * Published rows are deleted together, a commit for all of this time; a crash before repeats them,
 * which the stream drops.
 */
const DELETE_AFTER_MS = 250;
const SWEEP_EVERY_MS = 1000;
const SWEEP_BATCH = 100;
/** How long a row is left to the sweep that claimed it. */
const LEASE_MS = 15_000;
/**
 * A sweep stops well before its lease ends, so that no other replica publishes the same rows beside
 * it.
 */
const SWEEP_FOR_MS = 5000;

export type Relay = {
  /**
   * Publishes committed rows. Never throws: what fails is left to the sweep.
   * @param batchWindowMs of events that nobody waits for: how long they wait for others, so that
   * every process on their way reads and writes once for all; well below the time after which the
   * sweep takes them
   */
  dispatch: (rows: readonly OutboxRow[], options?: { batchWindowMs: number }) => void;
  stop: () => Promise<void>;
};

/** Leases rows that the fast path did not take, or that a sweep left when it died, to one sweep. */
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

const deleteRows = (db: Db, ids: readonly bigint[]): Promise<unknown> =>
  db.query(sql.typeAlias('void')`delete from outbox where outbox_id = any(${sql.array(ids, 'int8')})`);

/**
 * Gives rows that were claimed and not tried, or that did not reach the bus, back to the next
 * sweep.
 */
const releaseRows = (db: Db, ids: readonly bigint[]): Promise<unknown> =>
  db.query(
    sql.typeAlias(
      'void',
    )`update outbox set next_at = app_now() where outbox_id = any(${sql.array(ids, 'int8')})`,
  );

/** Starts publishing a service's outbox. Any number of replicas may run it. */
export const startRelay = (pool: Pool, bus: Bus, logger: Logger): Relay => {
  let published: bigint[] = [];
  let flushing: Promise<void> | undefined;
  let stopping = false;
  const sending = new Set<Promise<void>>();
  const stopped = new AbortController();
  let waiting: OutboxRow[] = [];
  let batching: Promise<void> | undefined;

  const flush = async () => {
    await sleep(DELETE_AFTER_MS);
    const ids = published;
    published = [];
    flushing = undefined;
    await deleteRows(pool, ids).catch((error: unknown) =>
      logger.warn({ err: error }, 'outbox rows will be published again'),
    );
  };

  const send = async (row: OutboxRow) => {
    await failpoint('outbox.beforePublish');
    await publish(bus, {
      subject: row.subject,
      msgId: row.msg_id,
      payload: row.payload,
      traceparent: row.traceparent,
    });
    await failpoint('outbox.afterPublish');
  };

  const publishAll = (rows: readonly OutboxRow[]) => {
    for (const row of rows) {
      const work = send(row)
        .then(() => {
          published.push(row.outbox_id);
          flushing ??= flush();
        })
        .catch((error: unknown) =>
          logger.warn({ err: error, subject: row.subject }, 'publish failed, left to the sweep'),
        )
        .finally(() => sending.delete(work));
      sending.add(work);
    }
  };

  const publishBatch = async (batchWindowMs: number) => {
    await sleep(batchWindowMs, undefined, { signal: stopped.signal }).catch(() => {});
    const rows = waiting;
    waiting = [];
    batching = undefined;
    publishAll(rows);
  };

  const dispatch: Relay['dispatch'] = (rows, { batchWindowMs } = { batchWindowMs: 0 }) => {
    if (batchWindowMs === 0) return publishAll(rows);
    waiting.push(...rows);
    batching ??= publishBatch(batchWindowMs);
  };

  /**
   * Claims, publishes in order, deletes: three steps, so that no transaction is open while the
   * network is waited for. A row that fails keeps its lease and the rest is given back: one that
   * can never be published holds up nothing behind it. A process that does not reach the bus leases
   * nothing and gives back all: another replica may reach it.
   */
  const sweep = async (): Promise<number> => {
    if (!(await reachesBus(bus))) return 0;
    const rows = await claimDue(pool);
    const until = performance.now() + SWEEP_FOR_MS;
    let done = 0;
    let failed = 0;
    try {
      for (const row of rows) {
        if (stopping || performance.now() > until) break;
        failed = 1;
        await send(row);
        failed = 0;
        done += 1;
      }
    } catch (error) {
      if (!(await reachesBus(bus))) failed = 0;
      throw error;
    } finally {
      const ids = rows.map((row) => row.outbox_id);
      if (done > 0) await deleteRows(pool, ids.slice(0, done));
      if (done + failed < ids.length) await releaseRows(pool, ids.slice(done + failed));
    }
    return done;
  };

  const loop = async () => {
    while (!stopping) {
      const swept = await sweep().catch((error: unknown) => {
        logger.warn({ err: error }, 'outbox sweep failed');
        return 0;
      });
      if (swept < SWEEP_BATCH)
        await sleep(SWEEP_EVERY_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  };
  const running = loop();

  return {
    dispatch,
    stop: async () => {
      stopping = true;
      stopped.abort();
      await batching;
      await Promise.allSettled([...sending, running]);
      await flushing;
    },
  };
};
