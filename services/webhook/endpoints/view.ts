import type { z } from 'zod';
import type { Endpoint } from '../../../shared/contract/webhook.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { EndpointRow } from './store.ts';

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
