import { stateMachine } from '../../../shared/state-machine.ts';

/** Status of a quote, from its record and the time. Settlement decides whether it is paid; this only tells. */
export type QuoteStatus = 'pending' | 'settling' | 'settled' | 'expired';

/**
 * The state of the settlement that pays a quote, as far as it is known here. Its events have the
 * same names.
 */
export type SettlementState = 'accepted' | 'issued' | 'failed';
/** `failed` after `issued` means that the payment was reversed on chain for good. */
export const settlements = stateMachine<SettlementState, SettlementState>({
  accepted: { accepted: 'accepted', issued: 'issued', failed: 'failed' },
  issued: { failed: 'failed' },
  failed: { failed: 'failed' },
});
/** An event of a quote's settlement. */
export type Transition = { quote_id: string; settlement_id: string; event: SettlementState };

/**
 * @param state of the last settlement, null without one
 * @param expiresAt of the quote; both times epoch milliseconds
 */
export const quoteStatus = (state: SettlementState | null, expiresAt: number, now: number): QuoteStatus => {
  if (state === 'issued') return 'settled';
  if (state === 'accepted') return 'settling';
  return expiresAt <= now ? 'expired' : 'pending';
};
