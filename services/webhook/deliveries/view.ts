import type { z } from 'zod';
import type { Delivery } from '../../../shared/contract/webhook.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { DeliveryRow, DueRow } from './store.ts';

/** A delivery in the log of its endpoint. */
export const showDelivery = (row: DeliveryRow): z.infer<typeof Delivery> => ({
  ...row,
  next_attempt_at: isoTimeOrNull(row.next_attempt_at),
  created_at: isoTime(row.created_at),
});

/** The body of a delivery: the event, in the same text in every attempt. */
export const deliveryBody = (row: Pick<DueRow, 'event_id' | 'type' | 'data' | 'created_at'>): string =>
  JSON.stringify({
    id: row.event_id,
    type: row.type,
    timestamp: isoTime(row.created_at),
    data: row.data,
  });
