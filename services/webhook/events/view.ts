import type { z } from 'zod';
import type { Event } from '../../../shared/contract/webhook.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { EventRow } from './store.ts';

/** An event as its account reads it. */
export const showEvent = (row: EventRow): z.infer<typeof Event> => ({
  ...row,
  created_at: isoTime(row.created_at),
});
