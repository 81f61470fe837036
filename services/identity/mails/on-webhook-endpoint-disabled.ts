import type { z } from 'zod';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertNotice } from './store.ts';

/**
 * Notifies the owner of a webhook endpoint that was disabled. No setting turns this mail off,
 * because the owner misses events. A repeated event mails twice, which does no harm.
 */
export const endpointDisabled =
  ({ pool, sendMailsNow }: { pool: Pool; sendMailsNow: () => void }) =>
  async ({ account_id, ...details }: z.infer<typeof webhook.events.endpointDisabled>): Promise<void> => {
    await insertNotice(pool, { account_id, kind: 'webhook_disabled', details, always: true });
    sendMailsNow();
  };
