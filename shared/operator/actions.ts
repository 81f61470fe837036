import { z } from 'zod';
import type { ActionChain, ActionHash, OperatorAction } from '../contract/operator.ts';
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

/**
 * The last actions, newest first.
 * @param target what they are about; undefined: all
 */
export const listActions = (
  db: Db,
  { limit, target }: { limit: number; target?: string | undefined },
): Promise<readonly OperatorAction[]> =>
  db.any(sql.type(Row)`
    select action_id, at, actor, action, target, reason, before, after from operator_actions
    ${target === undefined ? sql.fragment`` : sql.fragment`where target = ${target}`}
    order by action_id desc limit ${limit}`);

const Chain = z.object({
  actions: z.bigint().transform(Number),
  head_id: z.bigint().transform(Number).nullable(),
  head_hash: z.string().nullable(),
  broken_at: z.bigint().transform(Number).nullable(),
  known_found: z.boolean().nullable(),
});

/**
 * Checks each action's hash, and that it follows the action before it (shared/db/migrations).
 * @param known the end of the chain as it was at an earlier time. Without it, actions that were
 *   removed from the end are not noticed, because the rest is still a chain.
 */
export const verifyActions = async (db: Db, known: ActionHash | null): Promise<ActionChain> => {
  const { head_id, head_hash, ...chain } = await db.one(sql.type(Chain)`
    with checked as (
      select action_id, encode(hash, 'hex') as hash,
        hash = operator_action_hash(one)
          and previous_hash = lag(hash, 1, ''::bytea) over chain
          and action_id = lag(action_id, 1, 0::bigint) over chain + 1 as follows
      from operator_actions as one window chain as (order by action_id))
    select count(*) as actions, max(action_id) as head_id,
      (select hash from checked order by action_id desc limit 1) as head_hash,
      min(action_id) filter (where not follows) as broken_at,
      case when ${known?.action_id ?? null}::bigint is null then null
        else coalesce(bool_or(action_id = ${known?.action_id ?? null} and hash = ${known?.hash ?? null}), false)
      end as known_found
    from checked`);
  const head = head_id === null || head_hash === null ? null : { action_id: head_id, hash: head_hash };
  return { ...chain, head };
};
