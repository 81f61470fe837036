import type { z } from 'zod';
import { ServiceError } from '../../shared/contract/errors.ts';
import type { PrincipalOf } from '../../shared/contract/principal.ts';
import type { Wallet } from '../../shared/contract/wallet.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { parseMicro } from '../../shared/lib/micro.ts';
import { sightSince } from '../../shared/lib/sight.ts';
import type { Deps, Sight } from './deps.ts';
import { delegationStatus } from './domain/delegation.ts';
import type { Viewer } from './store/transactions.ts';
import { findWallet, type WalletRow } from './store/wallets.ts';

export type WalletView = z.infer<typeof Wallet>;

/** The caller's wallet. Another's does not exist for them. */
export const ownWallet = async (deps: Deps, accountId: string, walletId: string): Promise<WalletRow> => {
  const row = await findWallet(deps.pool, accountId, walletId);
  if (row === null) throw new ServiceError('not_found', 'no such wallet');
  return row;
};

const showWallet = (row: WalletRow, sight: Sight, now: number): WalletView => ({
  wallet_id: row.wallet_id,
  kind: row.kind,
  address: row.public_key,
  token_account: row.token_account,
  label: row.label,
  balance: sight.balance,
  delegation: {
    status: delegationStatus(
      { authority: row.authority, approving: row.approving, lastConfirmed: row.last_confirmed },
      { exists: sight.exists, delegate: sight.delegate, allowance: parseMicro(sight.allowance) },
    ),
    delegate: sight.delegate,
    allowance: sight.allowance,
    as_of: isoTime(now),
  },
  created_at: isoTime(row.created_at),
});

/**
 * A wallet as its owner reads it, with what the chain shows now.
 * @param sinceSlot what is known to have happened and must be seen
 */
export const seeWallet = async (
  deps: Deps,
  row: WalletRow,
  sinceSlot: number | null = null,
): Promise<WalletView> => {
  const sight = await sightSince(() => deps.observeWallet(row.public_key), sinceSlot);
  return showWallet(row, sight, deps.clock());
};

const PARALLEL = 8;

/** The same for a page of wallets, in their order; bounded, so that one list does not flood the chain's nodes. */
export const seeWallets = async (deps: Deps, rows: readonly WalletRow[]): Promise<WalletView[]> => {
  const views = new Array<WalletView>(rows.length);
  const queue = rows.entries();
  const lane = async () => {
    for (const [index, row] of queue) views[index] = await seeWallet(deps, row);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, rows.length) }, lane));
  return views;
};

/** Whose transactions a caller sees: a delegate's key those of the delegate alone. */
export const viewerOf = (caller: PrincipalOf<readonly ['jwt', 'delegate_key']>): Viewer => ({
  account_id: caller.account_id,
  delegate_id: caller.kind === 'delegate_key' ? caller.delegate_id : null,
});
