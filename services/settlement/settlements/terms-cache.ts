import { LRUCache } from 'lru-cache';
import type { Attempt } from './store/accept-attempts.ts';
import type { Terms } from './store/settlements.ts';

/** Some minutes' worth under the heaviest load, at half a kilobyte each. */
const MAX_KEPT = 5000;

/**
 * What this replica has accepted and not yet seen final: what the facts and the token of a settlement say of it was fixed
 * with it, so a fact that comes back here needs no look-up first.
 */
export const createAccepted = () => {
  const kept = new LRUCache<string, Terms>({ max: MAX_KEPT });
  return {
    keep: ({ settlementId, accountId, delegateId, walletId, claims }: Attempt, created_at: number): void => {
      kept.set(settlementId, {
        settlement_id: settlementId,
        quote_id: claims.quote_id,
        account_id: accountId,
        delegate_id: delegateId,
        wallet_id: walletId,
        service_id: claims.service_id,
        vendor_account_id: claims.vendor_account_id,
        quote_amount: BigInt(claims.quote_amount),
        fee_amount: BigInt(claims.fee_amount),
        redeem_window_seconds: claims.redeem_window_seconds,
        created_at,
      });
    },
    /** Undefined: another replica accepted it, or this one long ago. */
    of: (settlementId: string): Terms | undefined => kept.get(settlementId),
    forget: (settlementId: string): void => void kept.delete(settlementId),
  };
};
export type Accepted = ReturnType<typeof createAccepted>;
