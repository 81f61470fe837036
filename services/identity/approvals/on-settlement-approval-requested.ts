import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertApprovalMail } from '../mails/store.ts';

/**
 * Mails the owner that a payment waits for approval, at most once per approval. No setting turns
 * this mail off, because the owner has required the approval.
 */
export const approvalRequested =
  ({ pool, sendMailsNow }: { pool: Pool; sendMailsNow: () => void }) =>
  async (approval: z.infer<typeof settlement.events.approvalRequested>): Promise<void> => {
    const { account_id, approval_id, delegate_id, amount, pay_to, expires_at } = approval;
    const details = {
      amount,
      pay_to,
      service: approval.service_name,
      delegate_id,
      expires_at,
      ...(approval.service_id !== null && { service_id: approval.service_id }),
      ...(approval.resource !== null && { resource: approval.resource }),
    };
    const isNew = await insertApprovalMail(pool, {
      account_id,
      approval_id,
      delegate_id,
      expires_at,
      details,
    });
    if (isNew) sendMailsNow();
  };
