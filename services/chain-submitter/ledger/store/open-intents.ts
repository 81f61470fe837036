import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { intents } from '../model/state.ts';

const state = stateColumn(intents);

const Open = z.object({
  object_id: z.string(),
  kind: z.string(),
  status: z.string(),
  generation: z.number(),
  signature: z.string().nullable(),
  account_id: z.string().nullable(),
  created_at: z.number(),
  next_at: z.number(),
});
export type OpenIntent = z.infer<typeof Open>;

/** The list stays cheap while much is open. */
const READ = 10_000;

/** The oldest intents that are open, of those that are tried next. */
export const listOldestOpen = (db: Db, limit: number): Promise<readonly OpenIntent[]> =>
  db.any(sql.type(Open)`
    select object_id, kind, status, generation, signature, account_id, created_at, next_at from (
      select object_id, kind, status, generation, signature, request ->> 'account_id' as account_id, created_at, next_at
      from intents where ${state.isOpen} order by next_at limit ${READ}
    ) as open
    order by created_at limit ${limit}`);
