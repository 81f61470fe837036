import { z } from 'zod';
import type { OperatorAction } from '../contract/operator.ts';
import { type Db, type Pool, sql } from '../db/pool.ts';
import { isoTime } from '../lib/clock.ts';

/** Who makes a change, and why. */
export type Operator = { actor: string; reason: string };

/**
 * Records an operator's action in the transaction of the change, with the time of the database.
 * @param change `before` and `after` as JSON; an action without a difference is not recorded
 */
export const recordAction = (
  tx: Db,
  { actor, reason }: Operator,
  { action, target, before, after }: { action: string; target: string; before: unknown; after: unknown },
): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`
    insert into operator_actions (actor, action, target, reason, before, after)
    values (${actor}, ${action}, ${target}, ${reason}, ${JSON.stringify(before)}::jsonb, ${JSON.stringify(after)}::jsonb)`);

/**
 * Makes a change for an operator and records it in the same commit. If the state is already the
 * requested one, nothing is changed or recorded.
 * @param lock reads the state and locks it until the transaction ends
 * @param isSo whether the state is the requested one
 * @param show the state as JSON for the record
 * @returns the state after the change, and whether it changed
 */
export const changeByOperator = <State>(
  pool: Pool,
  operator: Operator,
  {
    action,
    target,
    lock,
    isSo,
    change,
    show,
  }: {
    action: string;
    target: string;
    lock: (tx: Db) => Promise<State>;
    isSo: (state: State) => boolean;
    change: (tx: Db) => Promise<State>;
    show: (state: State) => unknown;
  },
): Promise<{ changed: boolean; state: State }> =>
  pool.transaction(async (tx) => {
    const before = await lock(tx);
    if (isSo(before)) return { changed: false, state: before };
    const state = await change(tx);
    await recordAction(tx, operator, { action, target, before: show(before), after: show(state) });
    return { changed: true, state };
  });

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
