import type { z } from 'zod';
import type { Delegate } from '../../../shared/contract/identity/delegates.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { DelegateSpending } from '../peers.ts';
import type { DelegateRow } from './store.ts';

const statusOf = ({ deleted_at, expired }: DelegateRow, paused: boolean) => {
  if (deleted_at !== null) return 'revoked';
  if (expired) return 'expired';
  return paused ? 'paused' : 'active';
};

/**
 * A delegate as its account or its key reads it. This service stores its name and keys, settlement
 * stores its limits.
 */
export const showDelegate = (
  row: DelegateRow,
  { limits, usage, allowed_service_ids, external, approval_above, paused }: DelegateSpending,
): z.infer<typeof Delegate> => ({
  delegate_id: row.delegate_id,
  name: row.name,
  wallet_id: row.wallet_id,
  limits,
  usage,
  allowed_service_ids,
  external,
  approval_above,
  expires_at: isoTimeOrNull(row.expires_at),
  status: statusOf(row, paused),
  revoked_at: isoTimeOrNull(row.deleted_at),
  created_at: isoTime(row.created_at),
});
