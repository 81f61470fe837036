import { batched } from '../../../shared/db/batched.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Credit } from '../fee-accounts/model.ts';
import {
  type HandOutRequest,
  type IncomingRedeemRequest,
  insertIncomingPayments,
  listByMessages,
  type NewIncomingPayment,
  recordHandOuts,
  recordIncomingRedeems,
} from '../record/store/incoming-payments.ts';
import { insertSigningLast, type OpenLimits } from '../record/store/signs-last.ts';

/** The statements that many payments of other protocols share. */
export type IncomingGroupCommit = ReturnType<typeof createIncomingGroupCommit>;

const keysOf = ({ settlement_id }: { settlement_id: string }) => [settlement_id];

/**
 * Group commits of one process. Payments of one vendor lock the row of its fees, so without them
 * each would wait for the commits of the others.
 */
export const createIncomingGroupCommit = (pool: Pool, credit: Credit, limits: OpenLimits) => ({
  /** The settlement of a signed message, or null. */
  find: batched((hashes: readonly string[]) => listByMessages(pool, hashes)),
  insert: batched((rows: readonly NewIncomingPayment[]) => insertIncomingPayments(pool, rows, credit), {
    keysOf: ({ message_hash }) => [message_hash],
  }),
  /** The payment of a link whose buyer signs last. People ask for it, so it shares no statement. */
  insertLast: (paymentLinkId: string, row: NewIncomingPayment) =>
    insertSigningLast(pool, paymentLinkId, row, { credit, limits }),
  handOut: batched((requests: readonly HandOutRequest[]) => recordHandOuts(pool, requests), { keysOf }),
  redeem: batched((requests: readonly IncomingRedeemRequest[]) => recordIncomingRedeems(pool, requests), {
    keysOf,
  }),
});
