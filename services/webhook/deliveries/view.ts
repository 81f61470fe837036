import type { z } from 'zod';
import type { Delivery, Endpoint, Event } from '../../../shared/contract/webhook.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { EndpointRow } from '../endpoints/store.ts';
import type { EventRow } from '../events/store.ts';
import type { DeliveryRow } from './store.ts';

/** An endpoint as its owner reads it. */
export const showEndpoint = (row: EndpointRow): z.infer<typeof Endpoint> => ({
  endpoint_id: row.endpoint_id,
  url: row.url,
  description: row.description,
  event_types: row.event_types as z.infer<typeof Endpoint>['event_types'],
  enabled: row.disabled_reason === null,
  disabled_reason: row.disabled_reason,
  failing_since: isoTimeOrNull(row.failing_since),
  previous_secret_expires_at: isoTimeOrNull(row.previous_secret_expires_at),
  created_at: isoTime(row.created_at),
});

/** An event as its account reads it. */
export const showEvent = (row: EventRow): z.infer<typeof Event> => ({
  ...row,
  created_at: isoTime(row.created_at),
});

/** An event as it is delivered, the same text in every try. */
export const payloadOf = (row: Pick<EventRow, 'event_id' | 'type' | 'data' | 'created_at'>): string =>
  JSON.stringify({
    id: row.event_id,
    type: row.type,
    timestamp: isoTime(row.created_at),
    data: row.data,
  });

/** A delivery in the log of its endpoint. */
export const showDelivery = (row: DeliveryRow): z.infer<typeof Delivery> => ({
  ...row,
  next_attempt_at: isoTimeOrNull(row.next_attempt_at),
  created_at: isoTime(row.created_at),
});
