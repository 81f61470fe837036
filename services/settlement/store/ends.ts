import { subjects } from '../../../shared/contract/service.ts';
import { settlement } from '../../../shared/contract/settlement.ts';
import { outboxValues } from '../../../shared/db/outbox.ts';
import { sql } from '../../../shared/db/pool.ts';

const isoText = (column: 'redeemed_at' | 'redeem_expires_at') => sql.fragment`
  to_char(changed.${sql.identifier([column])} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const OWN = {
  redeemed: sql.fragment`'redeemed_at', ${isoText('redeemed_at')}, 'redeem_id', changed.redeem_id`,
  expired: sql.fragment`'redeem_expires_at', ${isoText('redeem_expires_at')}`,
};

/**
 * The facts that settlements were redeemed or have expired, inserted by the statement that changed them: a row each
 * of its `changed`, which returns all columns. What they tell is known to the row alone, so it is made of it here.
 */
export const tellEnd = (name: 'redeemed' | 'expired') => sql.fragment`
  insert into outbox (subject, msg_id, payload, traceparent)
  select message.subject, message.msg_id || changed.settlement_id, jsonb_build_object(
      'settlement_id', changed.settlement_id, 'quote_id', changed.quote_id, 'account_id', changed.account_id,
      'delegate_id', changed.delegate_id, 'wallet_id', changed.wallet_id, 'service_id', changed.service_id,
      'vendor_account_id', changed.vendor_account_id, 'quote_amount', changed.quote_amount::text,
      'fee_amount', changed.fee_amount::text, ${OWN[name]}), message.traceparent
  from changed,
    ${outboxValues([{ subject: subjects.event(settlement.name, name), msgId: `${name}:`, payload: null }])}`;
