import { MAX_OBSERVED_WALLETS } from '../../../shared/contract/chain-submitter.ts';
import type { Deps } from '../deps.ts';
import { claimDueSights } from '../store/sights.ts';
import { walletsOf } from '../store/wallets.ts';
import { look } from '../watching.ts';

/** A run ends after so many batches, so that a stop never waits long. */
const MAX_BATCHES = 20;

/**
 * Notices what happens to wallets outside the service: a delegation that another app overwrote or revoked, tokens
 * that moved, an account that was closed. Nobody has to ask.
 */
export const watchWallets = (deps: Deps) => async (): Promise<void> => {
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const due = await claimDueSights(deps.pool, MAX_OBSERVED_WALLETS);
    const rows = due.length === 0 ? [] : await walletsOf(deps.pool, due);
    if (rows.length > 0) await look(deps, rows, { asked: false });
    if (due.length < MAX_OBSERVED_WALLETS) return;
  }
};
