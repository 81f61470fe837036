import { sql } from '../../../../shared/db/pool.ts';
import { insertEvents, isoText } from '../../../../shared/events/outbox.ts';
import { isIncoming } from './conditions.ts';

type Fragment = ReturnType<typeof sql.fragment>;
type SqlToken = ReturnType<typeof sql.array>;

/**
 * Who has signed an incoming payment; null: another one.
 * @param among a condition on its id, which the rows meet anyway
 */
const payerAddressOf = (
  table: ReturnType<typeof sql.identifier>,
  among: Fragment,
) => sql.fragment`case when ${isIncoming} then (
    select incoming.payer_address from incoming_payments as incoming where incoming.settlement_id = ${table}.settlement_id and ${among}
  ) end`;

/**
 * The columns of CTE `changed` that the events below read.
 * @param ids SQL of an array with the ids of the rows, if it is known: in a cluster of Citus the
 * statement then needs only their nodes
 */
export const endColumns = (settlements: string, ids?: SqlToken) => {
  const among = ids === undefined ? sql.fragment`true` : sql.fragment`incoming.settlement_id = any(${ids})`;
  const table = sql.identifier([settlements]);
  return sql.fragment`${table}.settlement_id, ${table}.redeem_id, rail, quote_id, scope, ${table}.account_id, delegate_id,
    ${table}.wallet_id, ${payerAddressOf(table, among)} as payer_address, ${table}.service_id, ${table}.vendor_account_id, quote_amount, fee_amount,
    redeem_expires_at, redeemed_at`;
};

export const about = {
  settlement_id: sql.fragment`changed.settlement_id`,
  quote_id: sql.fragment`changed.quote_id`,
  scope: sql.fragment`changed.scope`,
  rail: sql.fragment`changed.rail`,
  payer_address: sql.fragment`changed.payer_address`,
  account_id: sql.fragment`changed.account_id`,
  delegate_id: sql.fragment`changed.delegate_id`,
  wallet_id: sql.fragment`changed.wallet_id`,
  service_id: sql.fragment`changed.service_id`,
  vendor_account_id: sql.fragment`changed.vendor_account_id`,
  quote_amount: sql.fragment`changed.quote_amount::text`,
  fee_amount: sql.fragment`changed.fee_amount::text`,
};
const rows = { from: sql.fragment`changed`, traceparent: sql.fragment`changed.traceparent` };

/**
 * The events of redeemed and of expired settlements, inserted by the statement that changed them:
 * one for each row of its CTE `changed`, which has `endColumns` and `traceparent`.
 */
export const redeemedEvents = insertEvents('settlement.redeemed', {
  ...rows,
  fields: {
    ...about,
    redeemed_at: isoText(sql.fragment`changed.redeemed_at`),
    redeem_id: sql.fragment`changed.redeem_id`,
  },
});
export const expiredEvents = insertEvents('settlement.expired', {
  ...rows,
  fields: { ...about, redeem_expires_at: isoText(sql.fragment`changed.redeem_expires_at`) },
});
