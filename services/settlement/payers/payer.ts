import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import type { Deps } from '../deps.ts';
import { findPayer, type Payer, savePayer } from './store.ts';

const inactive = (message: string) =>
  new ServiceError('delegation_inactive', message, { safe_action: 'raise_limit' });

/**
 * The wallet that pays: the delegate key's own, or the account's default one.
 * @throws ServiceError delegation_inactive without one; conflict when it would pay itself
 */
export const payerFor = async (
  deps: Deps,
  accountId: string,
  walletId: string | null,
  claims: QuoteClaims,
): Promise<Payer> => {
  const known = walletId === null ? null : await findPayer(deps.pool, accountId, walletId);
  const wallet = known ?? (await deps.findWallet(accountId, walletId));
  if (wallet === null) throw inactive('there is no wallet to pay from; link one and let it spend');
  if (wallet.owner === claims.payout_address || wallet.owner === deps.feeWallet) {
    throw conflict('the payer would pay itself', { safe_action: 'stop' });
  }
  return {
    wallet_id: wallet.wallet_id,
    account_id: accountId,
    owner: wallet.owner,
    authority: wallet.authority,
  };
};

/**
 * Looks at the payer's token account on chain and keeps the sight.
 * @returns the payer with the authority that its owner has approved now
 * @throws ServiceError service_unavailable when the chain is away: nothing was done
 */
export const refreshPayer = async (deps: Deps, payer: Payer): Promise<Payer> => {
  const sight = await deps.observeWallet(payer.owner);
  const seen = sight.served && sight.delegate !== null ? { ...payer, authority: sight.delegate } : payer;
  await savePayer(deps.pool, seen, {
    balance: BigInt(sight.balance),
    // Another delegate's allowance is none of ours: ours was overwritten, or retired.
    allowance: sight.served ? BigInt(sight.allowance) : 0n,
    slot: BigInt(sight.slot),
  });
  return seen;
};
