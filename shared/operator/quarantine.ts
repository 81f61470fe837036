import { z } from 'zod';
import { type Db, type Pool, sql } from '../db/pool.ts';
import { type Consuming, type Quarantine, redeliverTo, UnreadableMessage } from '../events/consume.ts';
import type { Logger } from '../lib/telemetry/logger.ts';
import type { GaugeCollector } from '../lib/telemetry/metrics.ts';
import { buildName } from '../lib/telemetry/version.ts';

/**
 * Stores messages that cannot be handled until an operator decides, or another version can read
 * them. One that is read again from its publisher (shared/events/catch-up.ts) is stored once.
 */
export const quarantineInto =
  (pool: Pool, logger: Logger): Quarantine =>
  async ({ subject, body, reason, isUnreadable }) => {
    const unreadableBy = isUnreadable === true ? buildName : null;
    await pool.query(sql.typeAlias('void')`
      insert into quarantine (subject, body, reason, unreadable_by)
      select * from (values (${subject}::text, ${sql.binary(Buffer.from(body))}::bytea, ${reason}::text, ${unreadableBy}::text))
        as input(subject, body, reason, unreadable_by)
      where not exists (select from quarantine q where q.subject = input.subject and q.body = input.body)`);
    logger.error({ subject }, 'message quarantined');
  };

/** The number of messages that wait for a decision, and the age of the oldest (docs/runbook.md). */
export const quarantineGauges = (pool: Pool): GaugeCollector => ({
  name: 'quarantine',
  metrics: ['quittance_quarantine_messages', 'quittance_quarantine_oldest_age_seconds'],
  collect: async () => {
    const { messages, oldest_age } = await pool.one(sql.type(Backlog)`
      select count(*) as messages, coalesce(extract(epoch from app_now() - min(created_at)), 0)::float8 as oldest_age
      from quarantine where decided_at is null`);
    return [
      { metric: 'quittance_quarantine_messages', value: Number(messages) },
      { metric: 'quittance_quarantine_oldest_age_seconds', value: oldest_age },
    ];
  },
});

const Backlog = z.object({ messages: z.bigint(), oldest_age: z.number() });

const Row = z.object({
  quarantine_id: z.bigint().transform(Number),
  subject: z.string(),
  body: z.instanceof(Buffer),
  reason: z.string(),
  created_at: z.number(),
  decided_at: z.number().nullable(),
  decision: z.string().nullable(),
});
export type QuarantineRow = z.infer<typeof Row>;

const columns = sql.fragment`quarantine_id, subject, body, reason, created_at, decided_at, decision`;

/**
 * Quarantined messages, oldest first.
 * @param decided whether decided messages are included
 */
export const listQuarantined = (
  db: Db,
  { decided, limit }: { decided: boolean; limit: number },
): Promise<readonly QuarantineRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from quarantine ${decided ? sql.fragment`` : sql.fragment`where decided_at is null`}
    order by quarantine_id limit ${limit}`);

/** A quarantined message, or null. */
export const findQuarantined = (db: Db, id: number): Promise<QuarantineRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from quarantine where quarantine_id = ${id}`);

/** Records a decision. Null if the message is already decided: one caller wins. */
export const recordDecision = (db: Db, id: number, decision: string): Promise<QuarantineRow | null> =>
  db.maybeOne(sql.type(Row)`
    update quarantine set decided_at = app_now(), decision = ${decision}
    where quarantine_id = ${id} and decided_at is null returning ${columns}`);

/** So many messages are tried at a time. */
const TRIED = 100;

/** Messages that another build could not parse, and this one has not tried. */
const listUntried = (db: Db): Promise<readonly QuarantineRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from quarantine where decided_at is null and unreadable_by <> ${buildName}
    order by quarantine_id limit ${TRIED}`);

/**
 * Handles quarantined messages that another version could not read, and this one can. What it
 * cannot read either waits for an operator, or for the next version.
 * @returns whether a message was handled
 */
export const retryReadable = async (
  pool: Pool,
  consuming: readonly Consuming[],
  logger: Logger,
): Promise<boolean> => {
  const retry = async (row: QuarantineRow): Promise<boolean> => {
    const { quarantine_id, subject } = row;
    try {
      if (!(await redeliverTo(consuming, row))) return false;
    } catch (error) {
      if (error instanceof UnreadableMessage)
        await pool.query(sql.typeAlias('void')`
          update quarantine set unreadable_by = ${buildName} where quarantine_id = ${quarantine_id}`);
      else logger.warn({ quarantine_id, subject, err: error }, 'quarantined message not handled');
      return false;
    }
    await recordDecision(pool, quarantine_id, `read by ${buildName}`);
    logger.info({ quarantine_id, subject }, 'handled a message that another version could not read');
    return true;
  };
  let handled = false;
  for (const row of await listUntried(pool)) handled = (await retry(row)) || handled;
  return handled;
};
