import type { Quarantine } from '../bus/consume.ts';
import type { Logger } from '../lib/logger.ts';
import { type Pool, sql } from './pool.ts';

/** Keeps messages that cannot be parsed, for an operator to decide on. */
export const quarantineInto =
  (pool: Pool, logger: Logger): Quarantine =>
  async ({ subject, body, reason }) => {
    await pool.query(sql.typeAlias('void')`
      insert into quarantine (subject, body, reason) values (${subject}, ${sql.binary(Buffer.from(body))}, ${reason})`);
    logger.error({ subject }, 'message quarantined');
  };
