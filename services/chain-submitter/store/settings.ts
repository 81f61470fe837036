import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

/** Whether the operator has paused all signing. */
export const isPaused = (db: Db): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ paused: z.boolean() }))`select paused from settings`);
