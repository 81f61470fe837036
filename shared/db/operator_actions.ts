import { z } from 'zod';
import type { OperatorAction } from '../contract/operator.ts';
import { isoTime } from '../lib/clock.ts';
import { type Db, sql } from './pool.ts';

/** Who changes something, and why. */
export type Operator = { actor: string; reason: string };

/**
 * Records what an operator did, in the transaction that does it. The time is the database's.
 * @param change `before` and `after` as JSON; without a difference nothing should be recorded
 */
export const recordAction = (
  tx: Db,
  { actor, reason }: Operator,
  { action, target, before, after }: { action: string; target: string; before: unknown; after: unknown },
): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`
    insert into operator_actions (actor, action, target, reason, before, after)
    values (${actor}, ${action}, ${target}, ${reason}, ${JSON.stringify(before)}::jsonb, ${JSON.stringify(after)}::jsonb)`);

const Row = z.object({
  action_id: z.bigint().transform(Number),
  at: z.number().transform(isoTime),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  reason: z.string(),
  before: z.unknown(),
  after: z.unknown(),
});

/** The last actions, newest first. */
export const listActions = (db: Db, limit: number): Promise<readonly OperatorAction[]> =>
  db.any(sql.type(Row)`
    select action_id, at, actor, action, target, reason, before, after
    from operator_actions order by action_id desc limit ${limit}`);
