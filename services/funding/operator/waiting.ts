import { z } from 'zod';
import type { Waiting } from '../../../shared/contract/operator.ts';
import { type Db, type Pool, sql } from '../../../shared/db/pool.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { ListWaiting } from '../../../shared/operator/handlers.ts';
import { refundState, withdrawalState } from '../transfers/store.ts';

const Row = z.object({
  object_id: z.string(),
  kind: z.enum(['refund', 'withdrawal', 'test funds', 'deposit']),
  state: z.string(),
  account_id: z.string().nullable(),
  since: z.number(),
  next_at: z.number().nullable(),
  problem: z.string().nullable(),
});
type Row = z.infer<typeof Row>;

/**
 * What waits for us or the chain. A transfer that waits for its owner's signature is not listed.
 * Each part is read from the end of a partial index of open rows.
 */
const listOpen = (db: Db, limit: number) =>
  db.any(sql.type(Row)`
    (select refund_id as object_id, 'refund' as kind, status as state, vendor_account_id as account_id,
        created_at as since, null::timestamptz as next_at, null as problem
      from refunds where ${refundState.isOpen} and ${refundState.isNot('pending_signature')}
      order by progressed_at limit ${limit})
    union all
    (select withdrawal_id, 'withdrawal', status, account_id, created_at, null, null
      from withdrawals where ${withdrawalState.isOpen} and ${withdrawalState.isNot('pending_approval')}
      order by progressed_at limit ${limit})
    union all
    (select fund_id, 'test funds', status, account_id, created_at, null, null
      from dev_funds where status in ('new', 'signed') order by progressed_at limit ${limit})
    union all
    (select deposit_id, 'deposit', status, account_id, created_at, poll_at,
        problem_code || coalesce(': ' || problem_message, '')
      from deposits where problem_code is not null and status <> 'completed' order by created_at limit ${limit})`);

const WAITS_FOR: Readonly<Record<string, string>> = {
  new: 'its first step, which the sweep repeats',
  submitted: 'its transaction to be included, or its expiry',
  signed: 'its transaction to be included, or its expiry',
  confirmed: 'finality on the chain',
};

const view = ({ object_id, kind, state, account_id, since, next_at, problem }: Row): Waiting => ({
  object_id,
  kind,
  state,
  since: isoTime(since),
  account_id,
  waits_for:
    problem === null ? (WAITS_FOR[state] ?? 'its next step') : `its provider, and a case there: ${problem}`,
  next_at: isoTimeOrNull(next_at),
});

/** The oldest open transfers, and the deposits with a problem. */
export const listWaitingTransfers =
  (pool: Pool): ListWaiting =>
  async (limit) =>
    (await listOpen(pool, limit)).map(view);
