import { z } from 'zod';
import { notFound } from '../../../../shared/contract/errors.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { matching, type Page, pageBy } from '../../../../shared/lists/page.ts';
import { RESERVES_NOTHING, refunds } from '../model/refund.ts';
import { andStatusIs, refundState, transferColumns, transferShape } from '../store.ts';

const Row = z.object({
  refund_id: z.string(),
  settlement_id: z.string(),
  vendor_account_id: z.string(),
  service_id: z.string(),
  delegate_id: z.string().nullable(),
  payout_address: z.string(),
  /** Null: a payer of another protocol, whose token account gets the refund. */
  payer_account_id: z.string().nullable(),
  reason: z.string().nullable(),
  item: z.string().nullable(),
  ...transferShape('pending_signature'),
});
export type RefundRow = z.infer<typeof Row>;

const columns = sql.fragment`refund_id, settlement_id, vendor_account_id, service_id, delegate_id, payout_address,
  payer_account_id, reason, item, ${transferColumns}`;

/**
 * Inserts a refund before anything is reserved for it. It is not shown yet. Times are epoch
 * milliseconds.
 */
export const insertRefund = (
  db: Db,
  row: Pick<
    RefundRow,
    'refund_id' | 'settlement_id' | 'vendor_account_id' | 'reason' | 'created_at' | 'pending_until'
  >,
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into refunds (refund_id, settlement_id, vendor_account_id, reason, created_at, pending_until)
    values (${row.refund_id}, ${row.settlement_id}, ${row.vendor_account_id}, ${row.reason},
      to_timestamp(${row.created_at}::float8 / 1000), to_timestamp(${row.pending_until}::float8 / 1000))`);

/**
 * Opens a refund that is reserved and prepared.
 * @returns the refund, or null when it was abandoned meanwhile
 */
export const openRefund = (
  db: Db,
  row: Pick<
    RefundRow,
    | 'refund_id'
    | 'service_id'
    | 'delegate_id'
    | 'payout_address'
    | 'payer_account_id'
    | 'amount'
    | 'destination_address'
    | 'destination_token_account'
    | 'item'
  >,
): Promise<RefundRow | null> =>
  db.maybeOne(sql.type(Row)`
    update refunds set status = ${refundState.after('open')}, service_id = ${row.service_id},
      delegate_id = ${row.delegate_id},
      payout_address = ${row.payout_address}, payer_account_id = ${row.payer_account_id}, amount = ${row.amount},
      destination_address = ${row.destination_address},
      destination_token_account = ${row.destination_token_account}, item = ${row.item}, progressed_at = app_now()
    where refund_id = ${row.refund_id} and ${refundState.allows('open')}
    returning ${columns}`);

/**
 * Resumes a refund that was never opened.
 * @returns when it was created (epoch milliseconds), or null when it was abandoned
 */
export const resumeRefund = (db: Db, refundId: string): Promise<number | null> =>
  db.maybeOneFirst(sql.type(z.object({ created_at: z.number() }))`
    update refunds set progressed_at = app_now() where refund_id = ${refundId} and ${refundState.allows('open')}
    returning created_at`);

/**
 * Abandons a refund that was never opened.
 * @returns false when another call has opened or abandoned it
 */
export const voidRefund = async (db: Db, refundId: string): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update refunds set status = ${refundState.after('void')}
    where refund_id = ${refundId} and ${refundState.allows('void')}`);
  return rowCount > 0;
};

/** Abandons the refunds that a crash left unopened. */
export const voidAbandonedRefunds = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update refunds set status = ${refundState.after('void')}
    where ${refundState.isFrom('void')} and progressed_at < app_now() - interval '1 minute'`);

/** A refund of any vendor: for use inside the service, never directly for an answer. */
export const getRefundUnscoped = (db: Db, refundId: string): Promise<RefundRow> =>
  db.one(sql.type(Row)`select ${columns} from refunds where refund_id = ${refundId}`);

/**
 * Which refunds a caller may see. It is part of the query, so that a forgotten check finds nothing.
 */
export type RefundScope =
  | { as: 'service'; service_id: string }
  | { as: 'vendor'; account_id: string }
  | { as: 'payer'; account_id: string }
  | { as: 'either'; account_id: string };

const isShown = refundState.isNot('new', 'void');
const inScope = (scope: RefundScope) => {
  switch (scope.as) {
    case 'service':
      return sql.fragment`${isShown} and service_id = ${scope.service_id}`;
    case 'vendor':
      return sql.fragment`${isShown} and vendor_account_id = ${scope.account_id}`;
    case 'payer':
      return sql.fragment`${isShown} and payer_account_id = ${scope.account_id}`;
    case 'either':
      return sql.fragment`${isShown}
        and (vendor_account_id = ${scope.account_id} or payer_account_id = ${scope.account_id})`;
  }
};

/** The refund. @throws ServiceError not_found for a refund outside the scope, too */
export const getRefund = async (db: Db, scope: RefundScope, refundId: string): Promise<RefundRow> => {
  const row = await db.maybeOne(sql.type(Row)`
    select ${columns} from refunds where refund_id = ${refundId} and ${inScope(scope)}`);
  if (row === null) throw notFound('refund');
  return row;
};

type RefundQuery = {
  scope: RefundScope;
  settlement_id?: string | undefined;
  status?: RefundRow['status'] | undefined;
};

/** A page of the refunds in scope, newest first, and one row more where there is a next page. */
export const listRefunds = (
  db: Db,
  { scope, settlement_id, status }: RefundQuery,
  page: Page,
): Promise<readonly RefundRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from refunds
    where ${inScope(scope)} ${matching({ settlement_id })} ${andStatusIs('refund', status)}
      ${pageBy('refund_id', page)}`);

const Confirmed = z.object({
  refund_id: z.string(),
  amount: z.bigint(),
  tx_hash: z.string(),
  status: z.enum(['confirmed', 'finalized']),
  created_at: z.number(),
  count: z.number(),
  total: z.bigint(),
});
export type ConfirmedRefundRow = z.infer<typeof Confirmed>;

/**
 * The confirmed refunds of a settlement, oldest first. Every row has the number and the sum of all.
 */
export const listConfirmed = (
  db: Db,
  settlementId: string,
  limit: number,
): Promise<readonly ConfirmedRefundRow[]> =>
  db.any(sql.type(Confirmed)`
    select refund_id, amount, tx_hash, status, created_at, (count(*) over ())::int as count,
      (sum(amount) over ())::bigint as total
    from refunds where settlement_id = ${settlementId} and ${refundState.is('confirmed', 'finalized')}
    order by refund_id limit ${limit}`);

/**
 * Claims refunds that need no reservation any more and whose reservation is not released yet. A
 * release that fails is repeated in the next run.
 */
export const claimUnreleasedRefunds = (db: Db, limit: number): Promise<readonly { id: string }[]> =>
  db.any(sql.typeAlias('id')`
    update refunds set progressed_at = app_now()
    where refund_id in (
      select refund_id from refunds
      where released_at is null and ${refundState.is(...RESERVES_NOTHING)}
      order by progressed_at limit ${limit} for update skip locked)
    returning refund_id as id`);

/** Records that the reservation is released. A refund that was never shown is deleted. */
export const recordRelease = (db: Db, refundId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with deleted as (delete from refunds where refund_id = ${refundId} and ${refundState.is('void')})
    update refunds set released_at = app_now()
    where refund_id = ${refundId} and ${refundState.isNot('void')} and ${refundState.is(...RESERVES_NOTHING)}`);

/** Whether a refund that an account makes has no final outcome. */
export const hasOpenRefunds = (db: Db, accountId: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ open: z.boolean() }))`
    select exists (
      select from refunds where vendor_account_id = ${accountId} and ${refundState.is(...refunds.open)}
    ) as open`);

/** Erases the reasons that an account has given for its refunds. */
export const eraseRefundReasons = (db: Db, accountId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update refunds set reason = null where vendor_account_id = ${accountId} and reason is not null`);
