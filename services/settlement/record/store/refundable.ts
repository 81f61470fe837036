import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { chainStatuses, statuses } from '../model/status.ts';

const Refundable = z.object({
  status: z.enum(statuses.states),
  chain_status: z.enum(chainStatuses.states),
  net_amount: z.bigint(),
  refund_reserved: z.bigint(),
});

/**
 * Locks the settlement that a refund is of until the transaction ends: concurrent refunds are
 * evaluated one after the other, and a redeem waits for them. Null: not this vendor's settlement.
 * @param serviceId null: any service of the account
 */
export const lockRefundable = (
  tx: Db,
  settlementId: string,
  { accountId, serviceId }: { accountId: string; serviceId: string | null },
): Promise<z.infer<typeof Refundable> | null> =>
  tx.maybeOne(sql.type(Refundable)`
    select status, chain_status, quote_amount - fee_amount as net_amount, refund_reserved
    from settlements
    where settlement_id = ${settlementId} and vendor_account_id = ${accountId}
      ${serviceId === null ? sql.fragment`` : sql.fragment`and service_id = ${serviceId}`}
    for update`);

/** Adds the amount of the statement's CTE `reserved` (settlement_id, amount). */
export const addReserved = sql.fragment`
  update settlements set refund_reserved = refund_reserved + reserved.amount
  from reserved where settlements.settlement_id = reserved.settlement_id
  returning settlements.settlement_id as id`;

/**
 * Subtracts the amount of the statement's CTE `released` (settlement_id, amount) from the value
 * that is read under the lock: the reservation may have been inserted while the statement waited.
 */
export const subtractReleased = sql.fragment`
  update settlements set refund_reserved = locked.refund_reserved - released.amount
  from released, (
    select settlement_id, refund_reserved from settlements
    where settlement_id = (select settlement_id from released) for no key update
  ) as locked
  where settlements.settlement_id = locked.settlement_id`;
