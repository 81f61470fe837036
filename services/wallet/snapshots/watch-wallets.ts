import { MAX_WALLETS_SEEN } from '../../../shared/contract/chain-submitter.ts';
import type { Deps } from '../deps.ts';
import { walletsOf } from '../wallets/store.ts';
import { look } from './observe-wallets.ts';
import { claimDueSights } from './store.ts';

/** A run ends after so many batches, so that a stop never waits long. */
const MAX_BATCHES = 20;

/**
 * Notices what happens to wallets outside the service: a delegation that another app overwrote or revoked, tokens
 * that moved, an account that was closed. Nobody has to ask.
 */
export const watchWallets = (deps: Deps) => async (): Promise<void> => {
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const due = await claimDueSights(deps.pool, MAX_WALLETS_SEEN);
    const rows = due.length === 0 ? [] : await walletsOf(deps.pool, due);
    if (rows.length > 0) await look(deps, rows, { asked: false });
    if (due.length < MAX_WALLETS_SEEN) return;
  }
};
