import { batched } from '../../../../shared/db/batched.ts';
import type { Pool } from '../../../../shared/db/pool.ts';
import type { Credit } from '../../fee-accounts/model.ts';
import {
  type HandOutRequest,
  type IncomingRedeemRequest,
  insertIncomingPayment,
  insertIncomingPayments,
  listByMessages,
  type NewIncomingPayment,
  recordHandOuts,
  recordIncomingRedeems,
} from '../../record/store/incoming/incoming-payments.ts';
import { insertSigningLast, type OpenLimits } from '../../record/store/incoming/signs-last.ts';

/** The statements that many payments of other protocols share. */
export type IncomingGroupCommit = ReturnType<typeof createIncomingGroupCommit>;

/** Two payments with one key do not share a statement. */
const keysOfPayment = ({ message_hash, quote_id, ...row }: NewIncomingPayment) =>
  [
    message_hash,
    quote_id,
    row.external_id && `${row.service_id}/${row.source_account}/${row.external_id}`,
  ].filter((key) => key !== null);

const keysOf = ({ settlement_id }: { settlement_id: string }) => [settlement_id];

/**
 * Group commits of one process. Payments of one vendor lock the row of its fees, so without them
 * each would wait for the commits of the others.
 */
export const createIncomingGroupCommit = (pool: Pool, credit: Credit, limits: OpenLimits) => ({
  /** The settlement of a signed message, or null. */
  find: batched((hashes: readonly string[]) => listByMessages(pool, hashes)),
  insert: batched(
    async (rows: readonly NewIncomingPayment[]) =>
      rows.length === 1
        ? [await insertIncomingPayment(pool, rows[0]!, credit)]
        : insertIncomingPayments(pool, rows, credit),
    { keysOf: keysOfPayment },
  ),
  /** The payment of a link whose buyer signs last. People ask for it, so it shares no statement. */
  insertLast: (paymentLinkId: string, row: NewIncomingPayment) =>
    insertSigningLast(pool, paymentLinkId, row, { credit, limits }),
  handOut: batched((requests: readonly HandOutRequest[]) => recordHandOuts(pool, requests), { keysOf }),
  redeem: batched((requests: readonly IncomingRedeemRequest[]) => recordIncomingRedeems(pool, requests), {
    keysOf,
  }),
});
