import type { z } from 'zod';
import type { EventPayload } from '../../../shared/contract/events.ts';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import { type Decline, VENDOR_CODE } from '../../../shared/contract/settlement.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { figuresShown } from './model.ts';
import type { DeclineRow, Scope } from './store.ts';

type Caller = PrincipalOf<readonly ['service_key', 'jwt', 'delegate_key']>;

/** The caller's scope. A sign-in sees the account's own payments unless it asks as a vendor. */
export const scopeOf = (caller: Caller, role: 'payer' | 'vendor'): Scope => {
  if (caller.kind === 'service_key') return { as: 'service', service_id: caller.service_id };
  const { account_id } = caller;
  if (caller.kind === 'delegate_key') return { as: 'delegate', account_id, delegate_id: caller.delegate_id };
  return { as: role, account_id };
};

const limitOf = ({ amount, limit_micro, left_micro, resets_at }: DeclineRow) =>
  limit_micro === null || left_micro === null
    ? null
    : figuresShown({
        askedMicro: amount,
        limitMicro: limit_micro,
        leftMicro: left_micro,
        resetsAt: resets_at,
      });

/** A decline with everything that its payer may see. */
const showToPayer = (row: DeclineRow) => ({
  decline_id: row.decline_id,
  quote_id: row.quote_id,
  service_id: row.service_id,
  service_name: row.service_name,
  item: row.item,
  amount: formatMicro(row.amount),
  code: row.code,
  created_at: isoTime(row.created_at),
  delegate_id: row.delegate_id,
  payment_attempt_id: row.payment_attempt_id,
  reason: row.reason,
  limit: limitOf(row),
});

/** A vendor learns that the payer could not pay its quote, and nothing about the payer. */
const showToVendor = (row: DeclineRow) => ({
  decline_id: row.decline_id,
  quote_id: row.quote_id,
  service_id: row.service_id,
  service_name: row.service_name,
  item: row.item,
  amount: formatMicro(row.amount),
  code: VENDOR_CODE,
  created_at: isoTime(row.created_at),
});

/** A decline as a caller of this scope sees it. */
export const showDecline = (row: DeclineRow, { as }: Scope): z.infer<typeof Decline> =>
  as === 'payer' || as === 'delegate' ? showToPayer(row) : showToVendor(row);

/** The same for events, which name both accounts. */
export const declinedEvent = (row: DeclineRow): EventPayload<'settlement.declined'> => ({
  ...showToPayer(row),
  account_id: row.account_id,
  vendor_account_id: row.vendor_account_id,
});
