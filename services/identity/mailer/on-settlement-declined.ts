import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertDeclineMail } from '../mails/store.ts';
import { MAILED_REASONS } from './notices.ts';

/**
 * Mails the owner that a delegate could not pay for a reason that the owner can change, at most
 * once an hour. No setting turns this mail off, because the delegate stands still until the owner
 * acts. Who is signed in sees the refusal itself, and gets no mail.
 */
export const declined =
  ({ pool, sendMailsNow }: { pool: Pool; sendMailsNow: () => void }) =>
  async (decline: z.infer<typeof settlement.events.declined>): Promise<void> => {
    const { account_id, delegate_id, service_id, created_at, reason, amount, limit } = decline;
    if (delegate_id === null || !MAILED_REASONS.has(reason)) return;
    const details = {
      reason,
      amount,
      at: created_at,
      delegate_id,
      service_id,
      ...(limit !== null && { limit: limit.limit, left: limit.left }),
      ...(limit?.resets_at && { resets_at: limit.resets_at }),
    };
    const isNew = await insertDeclineMail(pool, { account_id, delegate_id, service_id, created_at, details });
    if (isNew) sendMailsNow();
  };
