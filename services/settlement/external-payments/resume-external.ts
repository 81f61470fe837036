import type { z } from 'zod';
import type { chainSubmitter, Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { claimStalledExternal } from '../settlements/store/external-payments.ts';

type CloseExternal = (typeof chainSubmitter.internal.closeExternal)['input'];

const BATCH = 50;

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
      stalled.map(async (payment) => applyProgress(await closeExternal(payment))),
    );
    for (const [index, result] of results.entries())
      if (result.status === 'rejected')
        logger.warn(
          { err: result.reason, settlement_id: stalled[index]!.settlement_id },
          'outgoing payment without progress: chain-submitter did not answer, asking again later',
        );
    return stalled.length > 0;
  };
