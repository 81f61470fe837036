import type { z } from 'zod';
import type { chainSubmitter, Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import {
  claimStalledExternal,
  findExternalAttempt,
  type Stalled,
} from '../settlements/store/external-payments.ts';
import { findLostTime } from '../settlements/store/restores.ts';
import { isOutgoing, paymentOf } from './sign.ts';

type CloseExternal = (typeof chainSubmitter.internal.closeExternal)['input'];

const BATCH = 50;

/** The lost time in which bytes of the payment may have been handed out; null without one. */
const lostOf = async (
  pool: Pool,
  { account_id, payment_attempt_id, message_hash }: Stalled,
): Promise<z.infer<CloseExternal>['lost']> => {
  if (message_hash !== null) return null;
  const lost = await findLostTime(pool, account_id);
  if (lost === null) return null;
  const row = await findExternalAttempt(pool, account_id, payment_attempt_id);
  return row !== null && isOutgoing(row) ? { ...lost, ...paymentOf(row) } : null;
};

/**
 * Asks chain-submitter about outgoing payments without progress. One for which nothing was signed
 * ends, and its hold is released.
 */
export const resumeExternal =
  ({
    pool,
    logger,
    closeExternal,
    applyProgress,
  }: {
    pool: Pool;
    logger: Logger;
    closeExternal: (payment: z.infer<CloseExternal>) => Promise<Progress>;
    applyProgress: (progress: Progress) => Promise<void>;
  }) =>
  async (): Promise<boolean> => {
    const stalled = await claimStalledExternal(pool, BATCH);
    const results = await Promise.allSettled(
      stalled.map(async (payment) =>
        applyProgress(await closeExternal({ ...payment, lost: await lostOf(pool, payment) })),
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
