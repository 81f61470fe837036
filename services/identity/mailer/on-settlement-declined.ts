import type { EventPayload } from '../../../shared/contract/events.ts';
import type { EventMail } from '../mails/store.ts';
import { MAILED_REASONS } from './notices.ts';

/**
 * The mail that a delegate could not pay for a reason that the owner can change, one an hour. No
 * setting turns it off, because the delegate stands still until the owner acts. Who is signed in
 * sees the refusal itself, and gets no mail.
 */
export const declined = (decline: EventPayload<'settlement.declined'>): EventMail[] => {
  const { account_id, delegate_id, service_id, item, created_at: at, reason, amount, limit } = decline;
  if (delegate_id === null || !MAILED_REASONS.has(reason)) return [];
  const details = {
    reason,
    amount,
    at,
    delegate_id,
    service_id,
    ...(item !== null && { resource: item }),
    ...(limit !== null && { limit: limit.limit, left: limit.left }),
    ...(limit?.resets_at && { resets_at: limit.resets_at }),
  };
  const event_key = `declined:${account_id}`;
  return [{ event_key, once_in: '1 hour', at, kind: 'payment_declined', account_id, details }];
};
