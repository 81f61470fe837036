import type { EventPayload } from '../../../shared/contract/events.ts';
import type { EventMail } from './store.ts';

/**
 * The mail about a webhook endpoint that was disabled. No setting turns it off, because the owner
 * misses events.
 */
export const endpointDisabled = ({
  account_id,
  ...details
}: EventPayload<'webhook.endpointDisabled'>): EventMail[] => {
  const { endpoint_id, at } = details;
  return [{ event_key: `${endpoint_id}:${at}`, at, kind: 'webhook_disabled', account_id, details }];
};
