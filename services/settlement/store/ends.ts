import { subjects } from '../../../shared/contract/service.ts';
import { settlement } from '../../../shared/contract/settlement.ts';
import { sql } from '../../../shared/db/pool.ts';

/** How long the fact of an end may wait for others: webhooks alone are made of it. */
export const END_LINGER_MS = 100;

const isoText = (column: 'redeemed_at' | 'redeem_expires_at') => sql.fragment`
  to_char(changed.${sql.identifier([column])} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const OWN = {
  redeemed: sql.fragment`'redeemed_at', ${isoText('redeemed_at')}, 'redeem_id', changed.redeem_id`,
  expired: sql.fragment`'redeem_expires_at', ${isoText('redeem_expires_at')}`,
};

/** The columns of its `changed` that `tellEnd` reads, and not the tokens, which are long. */
export const toldOfEnd = (settlements: string) => {
  const table = sql.identifier([settlements]);
  return sql.fragment`${table}.settlement_id, ${table}.redeem_id, quote_id, account_id, delegate_id, wallet_id,
    ${table}.service_id, vendor_account_id, quote_amount, fee_amount, redeem_expires_at, redeemed_at`;
};

/**
 * The facts that settlements were redeemed or have expired, inserted by the statement that changed them: a row each
 * of its `changed`, of the columns `toldOfEnd` and its `traceparent`. What they tell is known to the row alone, so it is
 * made of it here.
 */
export const tellEnd = (name: 'redeemed' | 'expired') => sql.fragment`
  insert into outbox (subject, msg_id, payload, traceparent)
  select ${subjects.event(settlement.name, name)}, ${`${name}:`} || changed.settlement_id, jsonb_build_object(
      'settlement_id', changed.settlement_id, 'quote_id', changed.quote_id, 'account_id', changed.account_id,
      'delegate_id', changed.delegate_id, 'wallet_id', changed.wallet_id, 'service_id', changed.service_id,
      'vendor_account_id', changed.vendor_account_id, 'quote_amount', changed.quote_amount::text,
      'fee_amount', changed.fee_amount::text, ${OWN[name]}), changed.traceparent
  from changed
  returning outbox_id, subject, msg_id, payload, traceparent`;
