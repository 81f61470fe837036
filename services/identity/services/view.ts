import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import type { ServiceRow } from './store.ts';

/** A service as its owner reads it. */
export const showService = (row: ServiceRow): z.infer<typeof identity.operations.getService.output> => ({
  service_id: row.service_id,
  name: row.name,
  price: formatMicro(row.price),
  payout_address: row.payout_address,
  next_payout:
    row.next_payout_address === null
      ? null
      : { payout_address: row.next_payout_address, effective_at: isoTime(row.next_payout_at!) },
  key_grace_hours: row.key_grace_hours,
  redeem_window_seconds: row.redeem_window_seconds,
  status: row.status,
  created_at: isoTime(row.created_at),
});
