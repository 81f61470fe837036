import type { z } from 'zod';
import type { Passkey } from '../../../shared/contract/identity/accounts.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { PasskeyRow } from './store/passkeys.ts';

/** A passkey as its owner reads it. */
export const showPasskey = (row: PasskeyRow): z.infer<typeof Passkey> => ({
  passkey_id: row.passkey_id,
  label: row.label,
  backed_up: row.backed_up,
  created_at: isoTime(row.created_at),
  last_used_at: isoTimeOrNull(row.last_used_at),
});
