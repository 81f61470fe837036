import type { z } from 'zod';
import type { WalletSnapshot } from '../../../shared/contract/chain-submitter.ts';
import type { wallet } from '../../../shared/contract/index.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { declined } from '../declines/model.ts';
import { findPayer, type Payer, upsertPayer } from './store.ts';

/** The wallet of an account by its id; with null its default wallet. */
export type FindWallet = (
  accountId: string,
  walletId: string | null,
) => Promise<z.infer<typeof wallet.internal.find.output>>;

/**
 * The wallet that pays: the one of the delegate key, or the account's default wallet.
 * @param payTo the address that it would pay; null: the caller compares it
 * @throws ServiceError delegation_inactive without a wallet; conflict when it would pay itself
 */
export const getPayer = async (
  deps: { pool: Pool; findWallet: FindWallet; feeWallet: string },
  accountId: string,
  walletId: string | null,
  payTo: string | null,
): Promise<Payer> => {
  const existing = walletId === null ? null : await findPayer(deps.pool, accountId, walletId);
  const found = existing ?? (await deps.findWallet(accountId, walletId));
  if (found === null) {
    throw declined('allowance', 'there is no wallet to pay from; link one and let it spend', {
      safe_action: 'raise_limit',
    });
  }
  if (found.owner === payTo || found.owner === deps.feeWallet) {
    throw declined('own_quote', 'the payer would pay itself', { safe_action: 'stop' });
  }
  return {
    wallet_id: found.wallet_id,
    account_id: accountId,
    owner: found.owner,
    authority: found.authority,
  };
};

/**
 * Reads the payer's token account from the chain and stores the snapshot.
 * @returns the payer with the authority that its owner has approved now
 * @throws ServiceError service_unavailable when the chain cannot be read: nothing was done
 */
export const refreshPayer = async (
  {
    pool,
    observeWallet,
  }: { pool: Pool; observeWallet: (owner: string) => Promise<z.infer<typeof WalletSnapshot>> },
  payer: Payer,
): Promise<Payer> => {
  const snapshot = await observeWallet(payer.owner);
  const refreshed =
    snapshot.served && snapshot.delegate !== null ? { ...payer, authority: snapshot.delegate } : payer;
  await upsertPayer(pool, refreshed, {
    balance: BigInt(snapshot.balance),
    // An allowance of another delegate does not count: the approval was overwritten or retired.
    allowance: snapshot.served ? BigInt(snapshot.allowance) : 0n,
    slot: BigInt(snapshot.slot),
  });
  return refreshed;
};
