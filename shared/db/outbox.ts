import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Bus } from '../bus/connect.ts';
import { publish, reachesBus } from '../bus/publish.ts';
import { failpoint } from '../lib/failpoint.ts';
import type { Logger } from '../lib/logger.ts';
import type { Reading } from '../lib/metrics.ts';
import { activeTraceparent } from '../lib/trace.ts';
import { type Db, type Pool, sql } from './pool.ts';

/**
 * The outbox: what must be published is committed with the change that it tells, and published after. The fast
 * path publishes at once; the sweep finds what a crash left, so nothing is ever lost, only repeated.
 */
export type Outgoing = {
  subject: string;
  msgId: string;
  payload: unknown;
  /** The trace it belongs to, where a statement tells what several calls did; else the one that inserts it. */
  traceparent?: string | null;
};

/** A row as a statement that inserts it returns it, for `relay.dispatch`. */
export const outboxRow = z.object({
  outbox_id: z.bigint(),
  subject: z.string(),
  msg_id: z.string(),
  payload: z.unknown(),
  traceparent: z.string().nullable(),
});
export type OutboxRow = z.infer<typeof outboxRow>;

/** The same rows as the JSON column `jsonb_agg(to_jsonb(...))` of a statement that returns something else besides. */
export const outboxColumn = z.array(
  outboxRow.extend({ outbox_id: z.union([z.number(), z.string()]).transform(BigInt) }),
);

/** Which of its messages a statement has inserted: they need not come back whole from where they were just sent. */
export const sentColumn = z.array(
  z.object({ outbox_id: z.union([z.number(), z.string()]).transform(BigInt), msg_id: z.string() }),
);

/** The rows of those of the messages that were inserted. @param messages of different ids */
export const sentRows = (messages: readonly Outgoing[], sent: z.infer<typeof sentColumn>): OutboxRow[] => {
  const byId = new Map(messages.map((message) => [message.msgId, message]));
  return sent.map(({ outbox_id, msg_id }) => {
    const { subject, payload, traceparent = activeTraceparent() } = byId.get(msg_id)!;
    return { outbox_id, subject, msg_id, payload, traceparent };
  });
};

/**
 * Rows as one JSON parameter, for `insertOutbox` or for a statement that inserts them in the same breath:
 * ``insert into outbox (subject, msg_id, payload, traceparent) select * from ${outboxValues([...])}``
 */
export const outboxValues = (messages: readonly Outgoing[]) => {
  // Kept with the row, so that a redelivery hours later joins its trace.
  const trace = activeTraceparent();
  const rows = messages.map(({ subject, msgId, payload, traceparent = trace }) => ({
    subject,
    msg_id: msgId,
    payload,
    traceparent,
  }));
  return sql.fragment`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
    as message(subject text, msg_id text, payload jsonb, traceparent text)`;
};

/** Inserts messages within the caller's transaction; hand the rows to `relay.dispatch` after the commit. */
export const insertOutbox = (db: Db, messages: readonly Outgoing[]): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    insert into outbox (subject, msg_id, payload, traceparent)
    select * from ${outboxValues(messages)}
    returning outbox_id, subject, msg_id, payload, traceparent`);

/** Published rows are deleted together, a commit for all of this time; a crash before repeats them, which the stream drops. */
const DELETE_AFTER_MS = 250;
const SWEEP_EVERY_MS = 1000;
const SWEEP_BATCH = 100;
/** How long a row is left to the sweep that claimed it. */
const LEASE_MS = 15_000;
/** A sweep stops well before its lease ends, so that no other replica publishes the same rows beside it. */
const SWEEP_FOR_MS = 5000;

export type Relay = {
  /**
   * Publishes committed rows. Never throws: what fails is left to the sweep.
   * @param lingerMs of facts that nobody waits for: how long they wait for others, so that every process on their way reads
   * and writes once for all; well below the time after which the sweep takes them
   */
  dispatch: (rows: readonly OutboxRow[], options?: { lingerMs: number }) => void;
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

/** Gives rows that were claimed and not tried, or that did not reach the bus, back to the next sweep. */
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
  let lingering: Promise<void> | undefined;

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

  const linger = async (lingerMs: number) => {
    await sleep(lingerMs, undefined, { signal: stopped.signal }).catch(() => {});
    const rows = waiting;
    waiting = [];
    lingering = undefined;
    publishAll(rows);
  };

  const dispatch: Relay['dispatch'] = (rows, { lingerMs } = { lingerMs: 0 }) => {
    if (lingerMs === 0) return publishAll(rows);
    waiting.push(...rows);
    lingering ??= linger(lingerMs);
  };

  /**
   * Claims, publishes in order, deletes: three steps, so that no transaction is open while the network is waited
   * for. A row that fails keeps its lease and the rest is given back: one that can never be published holds up
   * nothing behind it. Who does not reach the bus leases nothing and gives back all: another replica may reach it.
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
      await lingering;
      await Promise.allSettled([...sending, running]);
      await flushing;
    },
  };
};

/** More are not counted: whoever has so many knows enough, and a scrape must stay cheap. */
const COUNT_UP_TO = 10_000;
const Backlog = z.object({ messages: z.bigint(), oldest_age: z.number() });

/** Messages that are committed and not published yet. */
export const countOutbox = async (db: Db): Promise<number> =>
  Number(
    await db.oneFirst(sql.type(z.object({ messages: z.bigint() }))`select count(*) as messages from outbox`),
  );

/** What is committed and not yet published, and since when. Published rows are deleted, so the table is the backlog. */
export const outboxReading = (pool: Pool): Reading => ({
  name: 'outbox',
  metrics: ['settle.outbox.messages', 'settle.outbox.oldest_age'],
  read: async () => {
    const { messages, oldest_age } = await pool.one(sql.type(Backlog)`
      with backlog as (select created_at from outbox order by outbox_id limit ${COUNT_UP_TO})
      select count(*) as messages,
        coalesce(extract(epoch from app_now() - min(created_at)), 0)::float8 as oldest_age
      from backlog`);
    return [
      { metric: 'settle.outbox.messages', value: Number(messages) },
      { metric: 'settle.outbox.oldest_age', value: oldest_age },
    ];
  },
});
