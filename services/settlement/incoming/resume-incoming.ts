import type { z } from 'zod';
import type { chainSubmitter, Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { answerTo } from '../settlements/model/progress.ts';
import { claimStalledIncoming } from '../settlements/store/incoming-payments.ts';
import { findLostSince } from '../settlements/store/restores.ts';

type CloseIncoming = (typeof chainSubmitter.internal.closeIncoming)['input'];

const BATCH = 50;

/**
 * Asks chain-submitter about payments without progress. One for which nothing was signed ends, and
 * is never submitted later, because its call is over and its buyer signs anew.
 */
export const resumeIncoming =
  ({
    pool,
    logger,
    closeIncoming,
    applyProgress,
  }: {
    pool: Pool;
    logger: Logger;
    closeIncoming: (payment: z.infer<CloseIncoming>) => Promise<Progress>;
    applyProgress: (progress: Progress) => Promise<void>;
  }) =>
  async (): Promise<boolean> => {
    const stalled = await claimStalledIncoming(pool, BATCH);
    const since = stalled.length === 0 ? null : await findLostSince(pool);
    const results = await Promise.allSettled(
      stalled.map(async ({ vendor_account_id: account_id, source_account, generation, ...payment }) => {
        const lost = since === null ? null : { since, source_account, account_id };
        return applyProgress(answerTo(generation, await closeIncoming({ ...payment, lost })));
      }),
    );
    for (const [index, result] of results.entries())
      if (result.status === 'rejected')
        logger.warn(
          { err: result.reason, settlement_id: stalled[index]!.settlement_id },
          'payment without progress: chain-submitter did not answer, asking again later',
        );
    return stalled.length > 0;
  };
