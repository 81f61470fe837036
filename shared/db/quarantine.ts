import { z } from 'zod';
import type { Quarantine } from '../bus/consume.ts';
import type { Logger } from '../lib/logger.ts';
import type { Reading } from '../lib/metrics.ts';
import { type Pool, sql } from './pool.ts';

/** Keeps messages that cannot be parsed, for an operator to decide on. */
export const quarantineInto =
  (pool: Pool, logger: Logger): Quarantine =>
  async ({ subject, body, reason }) => {
    await pool.query(sql.typeAlias('void')`
      insert into quarantine (subject, body, reason) values (${subject}, ${sql.binary(Buffer.from(body))}, ${reason})`);
    logger.error({ subject }, 'message quarantined');
  };

/** How many wait for a decision, and for how long (docs/runbook.md). */
export const quarantineReading = (pool: Pool): Reading => ({
  name: 'quarantine',
  metrics: ['settle.quarantine.messages', 'settle.quarantine.oldest_age'],
  read: async () => {
    const { messages, oldest_age } = await pool.one(sql.type(Backlog)`
      select count(*) as messages, coalesce(extract(epoch from app_now() - min(created_at)), 0)::float8 as oldest_age
      from quarantine where decided_at is null`);
    return [
      { metric: 'settle.quarantine.messages', value: Number(messages) },
      { metric: 'settle.quarantine.oldest_age', value: oldest_age },
    ];
  },
});

const Backlog = z.object({ messages: z.bigint(), oldest_age: z.number() });
