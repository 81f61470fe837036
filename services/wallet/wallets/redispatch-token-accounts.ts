import { insertOutbox } from '../../../shared/events/outbox.ts';
import { count } from '../../../shared/lib/metrics.ts';
import type { Deps } from '../deps.ts';
import { tokenAccountJob } from '../snapshots/events.ts';
import { claimStalledTokenAccounts } from './store.ts';

/**
 * Asks again for the token accounts that made no progress for 15 s (docs/design/settle.md,
 * rule 16).
 */
export const driveTokenAccounts =
  ({ pool, relay }: Pick<Deps, 'pool' | 'relay'>) =>
  async (): Promise<void> => {
    const jobs = await pool.transaction(async (tx) => {
      const stalled = await claimStalledTokenAccounts(tx);
      return insertOutbox(
        tx,
        stalled.map((wallet) => tokenAccountJob(wallet, wallet.token_account_drive)),
      );
    });
    count('settle.redrives', jobs.length);
    relay.dispatch(jobs);
  };
