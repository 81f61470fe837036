import type { EventPayload } from '../../../shared/contract/events.ts';
import type { EventMail } from '../mails/store.ts';

/**
 * The mail about a payment that waits for approval. No setting turns it off, because the owner has
 * required the approval. Nobody can approve after `expires_at`, so it is not sent any more then.
 */
export const approvalRequested = (approval: EventPayload<'settlement.approvalRequested'>): EventMail[] => {
  const { approval_id, created_at: at, account_id, service_id, resource, expires_at } = approval;
  const { amount, payees, service_name: service, delegate_id } = approval;
  const details = {
    amount,
    payees: JSON.stringify(payees),
    service,
    delegate_id,
    expires_at,
    ...(service_id !== null && { service_id }),
    ...(resource !== null && { resource }),
  };
  const link_id = approval_id;
  return [
    { event_key: approval_id, at, kind: 'approval_requested', account_id, details, link_id, expires_at },
  ];
};
