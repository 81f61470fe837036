import { MAX_OBSERVED_WALLETS } from '../../../../shared/contract/chain-submitter.ts';
import { listWalletsUnscoped } from '../store.ts';
import { type RefreshDeps, refreshSnapshots } from './refresh-snapshots.ts';
import { claimDueSnapshots } from './store.ts';

/** A run ends after this many batches, so that a shutdown never waits long. */
const MAX_BATCHES = 20;

/**
 * Detects changes of wallets outside the service: a delegation that another app overwrote or
 * revoked, tokens that moved, a token account that was closed.
 */
export const watchWallets = (deps: RefreshDeps) => async (): Promise<void> => {
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const due = await claimDueSnapshots(deps.pool, MAX_OBSERVED_WALLETS);
    const rows = due.length === 0 ? [] : await listWalletsUnscoped(deps.pool, due);
    if (rows.length > 0) await refreshSnapshots(deps, rows, { requested: false });
    if (due.length < MAX_OBSERVED_WALLETS) return;
  }
};
