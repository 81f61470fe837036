import { z } from 'zod';
import type { Waiting } from '../../../shared/contract/operator.ts';
import { type Db, type Pool, sql } from '../../../shared/db/pool.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { ListWaiting } from '../../../shared/operator/handlers.ts';
import { isUnderWay } from '../record/store/conditions.ts';

const Payment = z.object({
  settlement_id: z.string(),
  account_id: z.string().nullable(),
  rail: z.string(),
  chain_status: z.string(),
  tx_hash: z.string().nullable(),
  issued: z.boolean(),
  dispatch_count: z.number(),
  under_way_since: z.number(),
});

const Due = z.object({
  settlement_id: z.string(),
  account_id: z.string(),
  due_at: z.number(),
  retry_at: z.number().nullable(),
});

const listUnderWay = (db: Db, limit: number) =>
  db.any(sql.type(Payment)`
    select settlement_id, account_id, rail, chain_status, tx_hash, issued_at is not null as issued, dispatch_count,
      under_way_since
    from settlements where ${isUnderWay} order by under_way_since limit ${limit}`);

/** Authorizations whose window is over, and whose capture or void has not begun. */
const listDue = (db: Db, limit: number) =>
  db.any(sql.type(Due)`
    select settlement_id, account_id, due_at, retry_at from authorizations
    where due_at <= app_now() order by due_at limit ${limit}`);

/** For what a payment waits, in the words of docs/runbook.md. */
const causeOf = ({
  rail,
  chain_status,
  tx_hash,
  issued,
  dispatch_count,
}: z.infer<typeof Payment>): string => {
  if (chain_status === 'confirmed') return 'finality on the chain';
  if (issued) return 'its transaction to be included again, after a fork';
  if (rail === 'x402_out' || rail === 'mpp_out') return 'its vendor to send the transaction, or its expiry';
  const dispatched = dispatch_count > 1 ? ` (dispatched ${dispatch_count} times)` : '';
  return tx_hash === null
    ? `chain-submitter to sign and send it${dispatched}`
    : `its transaction to be confirmed${dispatched}`;
};

const ofPayment = (row: z.infer<typeof Payment>): Waiting => ({
  object_id: row.settlement_id,
  kind: 'payment',
  state: row.issued && row.chain_status === 'pending' ? 'reopened' : row.chain_status,
  since: isoTime(row.under_way_since),
  account_id: row.account_id,
  waits_for: causeOf(row),
  next_at: null,
});

const ofDue = ({ settlement_id, account_id, due_at, retry_at }: z.infer<typeof Due>): Waiting => ({
  object_id: settlement_id,
  kind: 'authorization',
  state: 'due',
  since: isoTime(due_at),
  account_id,
  waits_for: 'its capture or its void',
  next_at: isoTimeOrNull(retry_at),
});

/** The oldest payments under way, and the authorizations that are due. */
export const listWaitingPayments =
  (pool: Pool): ListWaiting =>
  async (limit) => {
    const [payments, due] = await Promise.all([listUnderWay(pool, limit), listDue(pool, limit)]);
    return [...payments.map(ofPayment), ...due.map(ofDue)];
  };
