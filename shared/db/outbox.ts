import { setTimeout as sleep } from 'node:timers/promises';
import { context, propagation } from '@opentelemetry/api';
import { z } from 'zod';
import type { Bus } from '../bus/connect.ts';
import { publish } from '../bus/publish.ts';
import { failpoint } from '../lib/failpoint.ts';
import type { Logger } from '../lib/logger.ts';
import { type Db, type Pool, sql } from './pool.ts';

/**
 * The outbox: what must be published is committed with the change that it tells, and published after. The fast
 * path publishes at once; the sweep finds what a crash left, so nothing is ever lost, only repeated.
 */
export type Outgoing = { subject: string; msgId: string; payload: unknown };

const Row = z.object({
  outbox_id: z.bigint(),
  subject: z.string(),
  msg_id: z.string(),
  payload: z.unknown(),
  traceparent: z.string().nullable(),
});
export type OutboxRow = z.infer<typeof Row>;

/** The active trace's W3C traceparent, kept with the row so that a redelivery hours later joins its trace. */
const traceparent = (): string | null => {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent ?? null;
};

/**
 * Rows as one JSON parameter, for `insertOutbox` or for a statement that inserts them in the same breath:
 * ``insert into outbox (subject, msg_id, payload, traceparent) select * from ${outboxValues([...])}``
 */
export const outboxValues = (messages: readonly Outgoing[]) => {
  const trace = traceparent();
  const rows = messages.map(({ subject, msgId, payload }) => ({
    subject,
    msg_id: msgId,
    payload,
    traceparent: trace,
  }));
  return sql.fragment`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
    as message(subject text, msg_id text, payload jsonb, traceparent text)`;
};

/** Inserts messages within the caller's transaction; hand the rows to `relay.dispatch` after the commit. */
export const insertOutbox = (db: Db, messages: readonly Outgoing[]): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(Row)`
    insert into outbox (subject, msg_id, payload, traceparent)
    select * from ${outboxValues(messages)}
    returning outbox_id, subject, msg_id, payload, traceparent`);

const DELETE_AFTER_MS = 25;
const SWEEP_EVERY_MS = 1000;
const SWEEP_AGE = '2 seconds';
const SWEEP_BATCH = 100;

export type Relay = {
  /** Publishes committed rows now. Never throws: what fails is left to the sweep. */
  dispatch: (rows: readonly OutboxRow[]) => void;
  stop: () => Promise<void>;
};

/** Starts publishing a service's outbox. Any number of replicas may run it. */
export const startRelay = (pool: Pool, bus: Bus, logger: Logger): Relay => {
  let published: bigint[] = [];
  let flushing: Promise<void> | undefined;
  let stopping = false;
  const sending = new Set<Promise<void>>();

  const flush = async () => {
    await sleep(DELETE_AFTER_MS);
    const ids = published;
    published = [];
    flushing = undefined;
    await pool
      .query(sql.typeAlias('void')`delete from outbox where outbox_id = any(${sql.array(ids, 'int8')})`)
      .catch((error: unknown) => logger.warn({ err: error }, 'outbox rows will be published again'));
  };

  const send = async (row: OutboxRow) => {
    await failpoint('outbox.beforePublish');
    await publish(bus, {
      subject: row.subject,
      msgId: row.msg_id,
      payload: row.payload,
      ...(row.traceparent === null ? {} : { traceparent: row.traceparent }),
    });
    await failpoint('outbox.afterPublish');
    published.push(row.outbox_id);
    flushing ??= flush();
  };

  const dispatch = (rows: readonly OutboxRow[]) => {
    for (const row of rows) {
      const work = send(row)
        .catch((error: unknown) =>
          logger.warn({ err: error, subject: row.subject }, 'publish failed, left to the sweep'),
        )
        .finally(() => sending.delete(work));
      sending.add(work);
    }
  };

  /** Rows older than the fast path takes: published in their order, deleted in the same transaction. */
  const sweep = (): Promise<number> =>
    pool.transaction(async (tx) => {
      const rows = await tx.any(sql.type(Row)`
        select outbox_id, subject, msg_id, payload, traceparent from outbox
        where created_at < app_now() - ${SWEEP_AGE}::interval
        order by outbox_id limit ${SWEEP_BATCH} for update skip locked`);
      for (const row of rows) {
        await publish(bus, {
          subject: row.subject,
          msgId: row.msg_id,
          payload: row.payload,
          ...(row.traceparent === null ? {} : { traceparent: row.traceparent }),
        });
      }
      const ids = rows.map((row) => row.outbox_id);
      await tx.query(
        sql.typeAlias('void')`delete from outbox where outbox_id = any(${sql.array(ids, 'int8')})`,
      );
      return rows.length;
    });

  const stopped = new AbortController();
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
      await Promise.allSettled([...sending, running]);
      await flushing;
    },
  };
};
