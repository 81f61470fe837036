import { LRUCache } from 'lru-cache';
import type { Attempt } from './store/accept-attempts.ts';
import type { OutgoingAttempt } from './store/accept-outgoing.ts';
import type { Terms } from './store/settlements.ts';

/** The payments of some minutes under the heaviest load, at half a kilobyte each and its scope. */
const MAX_ENTRIES = 5000;

/**
 * The terms of the payments that this replica has accepted and that are not final yet. They never
 * change, so the events and the token of such a payment need no read of its row.
 */
export const createTermsCache = () => {
  const entries = new LRUCache<string, Terms>({ max: MAX_ENTRIES });
  return {
    add: ({ settlementId, accountId, delegateId, walletId, claims }: Attempt, createdAt: number): void => {
      entries.set(settlementId, {
        settlement_id: settlementId,
        rail: 'quittance',
        payer_address: null,
        payout_address: null,
        quote_id: claims.quote_id,
        account_id: accountId,
        delegate_id: delegateId,
        wallet_id: walletId,
        service_id: claims.service_id,
        vendor_account_id: claims.vendor_account_id,
        quote_amount: BigInt(claims.quote_amount),
        fee_amount: BigInt(claims.fee_amount),
        scope: claims.scope,
        redeem_window_seconds: claims.redeem_window_seconds,
        created_at: createdAt,
      });
    },
    addExternal: (attempt: OutgoingAttempt, createdAt: number): void => {
      entries.set(attempt.settlementId, {
        settlement_id: attempt.settlementId,
        rail: 'x402_out',
        payer_address: attempt.authority,
        payout_address: attempt.payTo,
        quote_id: null,
        account_id: attempt.accountId,
        delegate_id: attempt.delegateId,
        wallet_id: attempt.walletId,
        service_id: null,
        vendor_account_id: null,
        quote_amount: attempt.amountMicro,
        fee_amount: 0n,
        scope: null,
        redeem_window_seconds: null,
        created_at: createdAt,
      });
    },
    /** Adds the terms of a payment of another protocol. */
    addTerms: (terms: Terms): void => void entries.set(terms.settlement_id, terms),
    /** Undefined: another replica accepted the payment, or this one accepted it long ago. */
    find: (settlementId: string): Terms | undefined => entries.get(settlementId),
    delete: (settlementId: string): void => void entries.delete(settlementId),
  };
};
export type TermsCache = ReturnType<typeof createTermsCache>;
