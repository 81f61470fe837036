import type { Moved } from '../../../shared/contract/funding.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { MovementRow } from './store.ts';

/** A movement as other services read it. */
export const showMovement = (row: MovementRow): Moved => ({
  ...row,
  amount: formatMicro(row.amount),
  created_at: isoTime(row.created_at),
});
