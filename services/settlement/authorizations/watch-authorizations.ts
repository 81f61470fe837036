import type { Records } from '../../../shared/boot.ts';
import { laneOf } from '../../../shared/lib/lane.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { upsertPayer, type WalletState } from '../payers/store.ts';
import type { Peers } from '../peers.ts';
import { listWatched, type Observed, recordAtRisk, type Watched } from '../record/store/authorizations.ts';

/** The wallets of one read of the chain, and the most reads of a turn. */
const WALLETS_PER_READ = 100;
const READS_PER_TURN = 20;

type RiskDeps = Pick<Records, 'pool' | 'relay'> & { endDue: () => Promise<unknown> };

/**
 * Closes the authorizations of wallets that do not cover them any more, and captures at once what
 * was used.
 */
export const createCloseIfShort =
  ({ pool, relay, endDue }: RiskDeps) =>
  async (states: readonly WalletState[]): Promise<void> => {
    const observed = states.map(({ wallet, balance, allowance, slot }): Observed => {
      return { wallet_id: wallet.wallet_id, balance, allowance, slot: String(slot) };
    });
    const events = await recordAtRisk(pool, observed);
    if (events.length === 0) return;
    relay.dispatch(events);
    // An older snapshot would accept further payments of these wallets.
    const short = new Set(events.map(({ payload }) => (payload as { wallet_id: string }).wallet_id));
    for (const { wallet, balance, allowance, slot } of states)
      if (short.has(wallet.wallet_id))
        await upsertPayer(pool, wallet, {
          balance: BigInt(balance),
          allowance: BigInt(allowance),
          slot: BigInt(slot),
        });
    count('quittance_authorizations_at_risk_total', events.length);
    await endDue();
  };

type Deps = Pick<Records, 'pool'> &
  Pick<Peers, 'observeWallets'> & {
    closeIfShort: (states: readonly WalletState[]) => Promise<void>;
    /** The lanes whose wallets this replica watches. */
    ownedLanes: () => ReadonlySet<number>;
  };

const observe = async (
  { observeWallets }: Deps,
  wallets: readonly Watched[],
): Promise<readonly WalletState[]> => {
  const { snapshots } = await observeWallets({ owners: wallets.map(({ owner }) => owner) });
  return wallets.map((wallet, index) => {
    const { balance, allowance, slot, served, delegate } = snapshots[index]!;
    return {
      wallet: served && delegate !== null ? { ...wallet, authority: delegate } : wallet,
      balance,
      allowance: served ? allowance : '0',
      slot,
    };
  });
};

/**
 * Watches the wallets of open authorizations on the chain, each once a second while there are fewer
 * than two thousand, then in turns. Between two looks a payer may empty its wallet, so what is used
 * meanwhile may be lost (docs/economics.md).
 * @returns a job; true while there is something to watch
 */
export const watchAuthorizations = (deps: Deps) => {
  let after = '';
  return async (): Promise<boolean> => {
    const wallets = await listWatched(deps.pool, after, READS_PER_TURN * WALLETS_PER_READ);
    const isLast = wallets.length < READS_PER_TURN * WALLETS_PER_READ;
    const begun = after;
    after = isLast ? '' : wallets.at(-1)!.wallet_id;
    const own = wallets.filter(({ account_id }) => deps.ownedLanes().has(laneOf(account_id)));
    for (let from = 0; from < own.length; from += WALLETS_PER_READ) {
      const states = await observe(deps, own.slice(from, from + WALLETS_PER_READ));
      await deps.closeIfShort(states);
    }
    return own.length > 0 || begun !== '';
  };
};
