import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

const Row = z.object({ paused: z.boolean() });

/** Whether the operator has paused all signing. */
export const isPaused = (db: Db): Promise<boolean> => db.oneFirst(sql.type(Row)`select paused from settings`);

/** Whether all signing is paused, locked until the transaction ends. */
export const lockPaused = (tx: Db): Promise<boolean> =>
  tx.oneFirst(sql.type(Row)`select paused from settings for update`);

/** Pauses or resumes all signing; returns whether it is paused. */
export const updatePaused = (tx: Db, paused: boolean): Promise<boolean> =>
  tx.oneFirst(sql.type(Row)`update settings set paused = ${paused} returning paused`);
