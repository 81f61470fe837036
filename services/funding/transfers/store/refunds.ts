import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { matching, type Page, pageBy } from '../../../../shared/lists/page.ts';
import { HOLDS_NOTHING } from '../model/refund.ts';
import { andStatusIs, refundState, transferColumns, transferShape } from '../store.ts';

const Row = z.object({
  refund_id: z.string(),
  settlement_id: z.string(),
  vendor_account_id: z.string(),
  service_id: z.string(),
  delegate_id: z.string().nullable(),
  payout_address: z.string(),
  payer_account_id: z.string(),
  reason: z.string().nullable(),
  ...transferShape('pending_signature'),
});
export type RefundRow = z.infer<typeof Row>;

const columns = sql.fragment`refund_id, settlement_id, vendor_account_id, service_id, delegate_id, payout_address,
  payer_account_id, reason, ${transferColumns}`;

/** Writes a refund before anything is reserved for it. Nobody sees it yet. Times are epoch milliseconds. */
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

/** Opens a refund that was reserved and prepared. Null: it was given up meanwhile. */
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
  >,
): Promise<RefundRow | null> =>
  db.maybeOne(sql.type(Row)`
    update refunds set status = ${refundState.after('open')}, service_id = ${row.service_id},
      delegate_id = ${row.delegate_id},
      payout_address = ${row.payout_address}, payer_account_id = ${row.payer_account_id}, amount = ${row.amount},
      destination_address = ${row.destination_address},
      destination_token_account = ${row.destination_token_account}, progressed_at = app_now()
    where refund_id = ${row.refund_id} and ${refundState.allows('open')}
    returning ${columns}`);

/** Goes on with a refund that was never opened: when it was created (epoch milliseconds), null when it was given up. */
export const resumeRefund = (db: Db, refundId: string): Promise<number | null> =>
  db.maybeOneFirst(sql.type(z.object({ created_at: z.number() }))`
    update refunds set progressed_at = app_now() where refund_id = ${refundId} and ${refundState.allows('open')}
    returning created_at`);

/** Gives up a refund that was never opened. False when it was opened, or given up, by another call. */
export const voidRefund = async (db: Db, refundId: string): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update refunds set status = ${refundState.after('void')}
    where refund_id = ${refundId} and ${refundState.allows('void')}`);
  return rowCount > 0;
};

/** Gives up the refunds that a crash left. */
export const voidLeftRefunds = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update refunds set status = ${refundState.after('void')}
    where ${refundState.isFrom('void')} and progressed_at < app_now() - interval '1 minute'`);

/** Whose it is does not matter: for the service's own use, never straight into an answer. */
export const lookUpRefund = (db: Db, refundId: string): Promise<RefundRow> =>
  db.one(sql.type(Row)`select ${columns} from refunds where refund_id = ${refundId}`);

/** Who may see which refunds: it goes into the query, so that a forgotten check finds nothing. */
export type Viewer =
  | { as: 'service'; service_id: string }
  | { as: 'vendor'; account_id: string }
  | { as: 'either'; account_id: string };

const isShown = refundState.isNot('new', 'void');
const seenBy = (viewer: Viewer) => {
  switch (viewer.as) {
    case 'service':
      return sql.fragment`${isShown} and service_id = ${viewer.service_id}`;
    case 'vendor':
      return sql.fragment`${isShown} and vendor_account_id = ${viewer.account_id}`;
    case 'either':
      return sql.fragment`${isShown}
        and (vendor_account_id = ${viewer.account_id} or payer_account_id = ${viewer.account_id})`;
  }
};

/** The viewer's refund, or null: another's does not exist for them. */
export const findRefund = (db: Db, viewer: Viewer, refundId: string): Promise<RefundRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from refunds where refund_id = ${refundId} and ${seenBy(viewer)}`);

export type RefundScope = {
  viewer: Viewer;
  settlement_id?: string | undefined;
  status?: RefundRow['status'] | undefined;
};

/** A page of the viewer's refunds, newest first, and one more. */
export const listRefunds = (
  db: Db,
  { viewer, settlement_id, status }: RefundScope,
  page: Page,
): Promise<readonly RefundRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from refunds
    where ${seenBy(viewer)} ${matching({ settlement_id })} ${andStatusIs('refund', status)}
      ${pageBy('refund_id', page)}`);

/**
 * Claims refunds that hold nothing any more and whose reservation is not given back yet. One that cannot be given back
 * now is tried again with the next round.
 */
export const claimUnreleased = (db: Db, limit: number): Promise<readonly { id: string }[]> =>
  db.any(sql.typeAlias('id')`
    update refunds set progressed_at = app_now()
    where refund_id in (
      select refund_id from refunds
      where released_at is null and ${refundState.is(...HOLDS_NOTHING)}
      order by progressed_at limit ${limit} for update skip locked)
    returning refund_id as id`);

/** Notes that the reservation is given back. What was never shown to anybody is forgotten. */
export const markReleased = (db: Db, refundId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with gone as (delete from refunds where refund_id = ${refundId} and ${refundState.is('void')})
    update refunds set released_at = app_now()
    where refund_id = ${refundId} and ${refundState.isNot('void')} and ${refundState.is(...HOLDS_NOTHING)}`);
