import type { Records } from '../../../shared/boot.ts';
import { declined } from '../declines/model.ts';
import type { Peers } from '../peers.ts';
import type { ServiceTerms } from '../terms.ts';
import { findPayer, type Payer, upsertPayer } from './store.ts';

/** What finds the wallet that pays. */
export type PayerFinder = Pick<Records, 'pool'> & Pick<Peers, 'findWallet'> & Pick<ServiceTerms, 'feeWallet'>;
/** What refreshes the snapshot of a payer. */
export type PayerRefresher = Pick<Records, 'pool'> & Pick<Peers, 'observeWallet'>;

/**
 * The wallet that pays: the one of the delegate key, or the account's default wallet.
 * @param payTo the address that it would pay; null: the caller compares it
 * @throws ServiceError delegation_inactive without a wallet; conflict when it would pay itself
 */
export const getPayer = async (
  deps: PayerFinder,
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
    throw declined(
      'own_quote',
      'the payer would pay itself, because the quote is paid to its own wallet; pay from another account, or change the payout address of the service and get a new quote',
      { safe_action: 'stop' },
    );
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
export const refreshPayer = async ({ pool, observeWallet }: PayerRefresher, payer: Payer): Promise<Payer> => {
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
