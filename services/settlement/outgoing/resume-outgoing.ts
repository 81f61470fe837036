import type { z } from 'zod';
import type { chainSubmitter, Progress } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { type ClosingResumeDeps, resumeByClosing } from '../core/resume.ts';
import { findOutgoingAttempt } from '../record/store/outgoing/outgoing-payments.ts';
import { findLostTime } from '../record/store/restores.ts';
import { type ClaimedOutgoing, OUTGOING } from './rail.ts';
import { isOutgoing, type Outgoing, paymentOf, timeOf } from './sign.ts';

type CloseOutgoing = (typeof chainSubmitter.internal.closeOutgoing)['input'];

type Stalled = Omit<ClaimedOutgoing, 'generation'>;
type Lost = z.infer<CloseOutgoing>['lost'];
type Close = (payment: z.infer<CloseOutgoing>) => Promise<Progress>;

const find = async (pool: Pool, { account_id, payment_attempt_id }: Stalled): Promise<Outgoing | null> => {
  const row = await findOutgoingAttempt(pool, account_id, payment_attempt_id);
  return row !== null && isOutgoing(row) ? row : null;
};

/** The lost time in which bytes of the payment may have been handed out; null without one. */
const lostOf = async (pool: Pool, payment: Stalled): Promise<Lost> => {
  if (payment.message_hash !== null) return null;
  const lost = await findLostTime(pool, payment.account_id);
  const row = lost === null ? null : await find(pool, payment);
  return lost === null || row === null ? null : { ...lost, ...paymentOf(row) };
};

/**
 * Ends a payment, or reads its progress. If chain-submitter has lost the record of handed-out
 * bytes, it is told what they pay, so that it finds their transaction.
 */
const end = async (pool: Pool, close: Close, payment: Stalled): Promise<Progress> => {
  try {
    return await close({ ...payment, lost: await lostOf(pool, payment) });
  } catch (error) {
    const isLost = error instanceof ServiceError && error.code === 'conflict';
    const row = isLost && payment.message_hash !== null ? await find(pool, payment) : null;
    if (row === null) throw error;
    return close({ ...payment, lost: { ...timeOf(row), ...paymentOf(row) } });
  }
};

type Deps = ClosingResumeDeps & { closeOutgoing: Close };

/** Resumes outgoing payments without progress. One that ends releases its hold. */
export const resumeOutgoing = (deps: Deps) =>
  resumeByClosing(deps, OUTGOING, ({ generation: _, ...payment }) =>
    end(deps.pool, deps.closeOutgoing, payment),
  );
