import { currentSnapshots, type RefreshDeps } from './snapshots/refresh-snapshots.ts';
import type { WalletRow } from './store.ts';
import { showWallet, type WalletView } from './view.ts';

/**
 * A page of wallets as their owner reads them, in their order. One query of the chain serves all of
 * them; while the chain cannot be read, they are shown as last seen.
 * @param minSlot the snapshots must not be older than this slot; null for any
 */
export const observedViews = async (
  deps: RefreshDeps,
  rows: readonly WalletRow[],
  minSlot: number | null = null,
): Promise<WalletView[]> => {
  const snapshots = await currentSnapshots(deps, rows, { minSlot });
  return rows.map((row, at) => showWallet(row, snapshots[at]!));
};

/** The same for one wallet. */
export const observedView = async (
  deps: RefreshDeps,
  row: WalletRow,
  minSlot: number | null = null,
): Promise<WalletView> => (await observedViews(deps, [row], minSlot))[0]!;
