import type { Records } from '../../../shared/boot.ts';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Db } from '../../../shared/db/pool.ts';
import type { Message } from '../../../shared/events/event.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { type ApplyProgress, answerTo } from '../record/model/progress.ts';
import { claimStalled, type Stalling } from '../record/store/stalled.ts';

const BATCH = 50;

export type JobResumeDeps = Pick<Records, 'pool' | 'relay'>;

/**
 * Dispatches the job of each payment of a rail without progress again (rule 16). The queue may
 * lose, delay or repeat a job; this database has the record.
 * @param messagesOf the jobs, and what else is to be published of these payments
 */
export const resumeByJob =
  <Claimed>(
    { pool, relay }: JobResumeDeps,
    rail: Stalling<Claimed>,
    messagesOf: (tx: Db, stalled: readonly Claimed[]) => Promise<readonly Message[]>,
  ) =>
  async (): Promise<boolean> => {
    const { stalled, rows } = await pool.transaction(async (tx) => {
      const stalled = await claimStalled(tx, rail, BATCH);
      return {
        stalled,
        rows: stalled.length === 0 ? [] : await insertOutbox(tx, await messagesOf(tx, stalled)),
      };
    });
    count('quittance_redispatches_total', stalled.length);
    relay.dispatch(rows);
    return stalled.length > 0;
  };

export type ClosingResumeDeps = Pick<Records, 'pool' | 'logger'> & { applyProgress: ApplyProgress };

/**
 * Asks chain-submitter about each payment of a rail without progress. One for which nothing was
 * signed ends, and is never signed later.
 * @param close ends a payment that was not signed, or reads its progress
 */
export const resumeByClosing =
  <Claimed extends { settlement_id: string; generation: number }>(
    { pool, logger, applyProgress }: ClosingResumeDeps,
    rail: Stalling<Claimed>,
    close: (payment: Claimed) => Promise<Progress>,
  ) =>
  async (): Promise<boolean> => {
    const stalled = await claimStalled(pool, rail, BATCH);
    const results = await Promise.allSettled(
      stalled.map(async (payment) => applyProgress(answerTo(payment.generation, await close(payment)))),
    );
    for (const [index, result] of results.entries())
      if (result.status === 'rejected')
        logger.warn(
          { err: result.reason, settlement_id: stalled[index]!.settlement_id },
          'payment without progress: chain-submitter did not answer, asking again later',
        );
    return stalled.length > 0;
  };
