import type { Pool } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { tokenAccountJob } from './events.ts';
import { claimStalledTokenAccounts } from './store.ts';

/**
 * Dispatches the job again for token accounts that made no progress for 15 s
 * (docs/design/settle.md, rule 16).
 */
export const redispatchTokenAccounts =
  ({ pool, relay }: { pool: Pool; relay: Outbox }) =>
  async (): Promise<boolean> => {
    const jobs = await pool.transaction(async (tx) => {
      const stalled = await claimStalledTokenAccounts(tx);
      return insertOutbox(
        tx,
        stalled.map((wallet) => tokenAccountJob(wallet, wallet.token_account_dispatch_count)),
      );
    });
    count('quittance_redispatches_total', jobs.length);
    relay.dispatch(jobs);
    return jobs.length > 0;
  };
