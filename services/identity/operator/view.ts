import type { z } from 'zod';
import type { AccountStatus } from '../../../shared/contract/identity.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { AccountStatusRow } from '../accounts/store.ts';

/** The status of an account as an operator reads it. */
export const showAccountStatus = ({
  created_at,
  frozen_at,
  closed_at,
  erased_at,
  ...row
}: AccountStatusRow): z.infer<typeof AccountStatus> => ({
  ...row,
  created_at: isoTime(created_at),
  frozen_at: isoTimeOrNull(frozen_at),
  closed_at: isoTimeOrNull(closed_at),
  erased_at: isoTimeOrNull(erased_at),
});
