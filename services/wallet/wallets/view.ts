import type { z } from 'zod';
import { notFound } from '../../../shared/contract/errors.ts';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { Wallet } from '../../../shared/contract/wallet.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { lookOrRecall } from '../snapshots/observe-wallets.ts';
import { isClosed, type SightRow } from '../snapshots/store.ts';
import type { Viewer } from '../transactions/store.ts';
import { findWallet, type WalletRow } from './store.ts';

export type WalletView = z.infer<typeof Wallet>;

/** The caller's wallet. Another's does not exist for them. */
export const ownWallet = async (deps: Deps, accountId: string, walletId: string): Promise<WalletRow> => {
  const row = await findWallet(deps.pool, accountId, walletId);
  if (row === null) throw notFound('wallet');
  return row;
};

const showWallet = (row: WalletRow, sight: SightRow): WalletView => ({
  wallet_id: row.wallet_id,
  kind: row.kind,
  address: row.public_key,
  token_account: row.token_account,
  label: row.label,
  token_account_closed: isClosed(sight),
  balance: formatMicro(sight.balance),
  delegation: {
    status: sight.delegation_status,
    delegate: sight.delegate,
    allowance: formatMicro(sight.allowance),
    as_of: isoTime(sight.seen_at!),
  },
  created_at: isoTime(row.created_at),
});

/** A page of wallets as their owner reads them, in their order: by one look at the chain, or as last seen. */
export const seeWallets = async (
  deps: Deps,
  rows: readonly WalletRow[],
  sinceSlot: number | null = null,
): Promise<WalletView[]> => {
  const sights = await lookOrRecall(deps, rows, { sinceSlot });
  return rows.map((row, at) => showWallet(row, sights[at]!));
};

/**
 * The same of one wallet.
 * @param sinceSlot what is known to have happened and must be seen
 */
export const seeWallet = async (
  deps: Deps,
  row: WalletRow,
  sinceSlot: number | null = null,
): Promise<WalletView> => (await seeWallets(deps, [row], sinceSlot))[0]!;

/** Whose transactions a caller sees: a delegate's key those of the delegate alone. */
export const viewerOf = (caller: PrincipalOf<readonly ['jwt', 'delegate_key']>): Viewer => ({
  account_id: caller.account_id,
  delegate_id: caller.kind === 'delegate_key' ? caller.delegate_id : null,
});
