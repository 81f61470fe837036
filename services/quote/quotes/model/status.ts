import { stateMachine } from '../../../../shared/state-machine.ts';

/**
 * The status of a quote. Settlement decides whether a quote is paid; this service only shows it.
 */
export type QuoteStatus = 'pending' | 'settling' | 'settled' | 'expired';

/**
 * The state of the settlement that pays a quote. The events of the settlement have the same names.
 */
export type SettlementState = 'accepted' | 'issued' | 'failed';
/** `failed` after `issued`: the payment was reversed on chain for good. */
export const settlements = stateMachine<SettlementState, SettlementState>({
  accepted: { accepted: 'accepted', issued: 'issued', failed: 'failed' },
  issued: { failed: 'failed' },
  failed: { failed: 'failed' },
});
/** An event of a quote's settlement. */
export type SettlementTransition = { quote_id: string; settlement_id: string; event: SettlementState };

/**
 * The status of a quote at a time.
 * @param state of the last settlement, null without one
 * @param expiresAt of the quote; both times in epoch milliseconds
 */
export const quoteStatus = (state: SettlementState | null, expiresAt: number, now: number): QuoteStatus => {
  if (state === 'issued') return 'settled';
  if (state === 'accepted') return 'settling';
  return expiresAt <= now ? 'expired' : 'pending';
};
