import type { z } from 'zod';
import type { chainSubmitter, Progress } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { answerTo } from '../settlements/model/progress.ts';
import {
  claimStalledOutgoing,
  findOutgoingAttempt,
  type Stalled as StalledRow,
} from '../settlements/store/outgoing-payments.ts';
import { findLostTime } from '../settlements/store/restores.ts';
import { isOutgoing, type Outgoing, paymentOf, timeOf } from './sign.ts';

type CloseOutgoing = (typeof chainSubmitter.internal.closeOutgoing)['input'];

const BATCH = 50;

type Stalled = Omit<StalledRow, 'generation'>;

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

/**
 * Asks chain-submitter about outgoing payments without progress. One for which nothing was signed
 * ends, and its hold is released.
 */
export const resumeOutgoing =
  ({
    pool,
    logger,
    closeOutgoing,
    applyProgress,
  }: {
    pool: Pool;
    logger: Logger;
    closeOutgoing: Close;
    applyProgress: (progress: Progress) => Promise<void>;
  }) =>
  async (): Promise<boolean> => {
    const stalled = await claimStalledOutgoing(pool, BATCH);
    const results = await Promise.allSettled(
      stalled.map(async ({ generation, ...payment }) =>
        applyProgress(answerTo(generation, await end(pool, closeOutgoing, payment))),
      ),
    );
    for (const [index, result] of results.entries())
      if (result.status === 'rejected')
        logger.warn(
          { err: result.reason, settlement_id: stalled[index]!.settlement_id },
          'outgoing payment without progress: chain-submitter did not answer, asking again later',
        );
    return stalled.length > 0;
  };
