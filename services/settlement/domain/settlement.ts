import type { ErrorCode, ErrorExtras } from '../../../shared/contract/errors.ts';

/**
 * Lifecycle of a settlement (docs/spec/interface.md, States and transitions;
 * docs/spec/decisions.md, Settle).
 */
export type Status = 'pending' | 'issued' | 'redeemed' | 'expired' | 'failed';
/** How far its transaction is on the chain. */
export type ChainStatus = 'pending' | 'confirmed' | 'finalized' | 'failed';
/** What happens to it: facts of chain-submitter, the vendor's redeem and consume, time. */
export type Event =
  | 'signed'
  | 'confirmed'
  | 'finalized'
  | 'failed'
  | 'reopened'
  | 'redeem'
  | 'consume'
  | 'elapse';

type State = { status: Status; chain: ChainStatus };

/**
 * The one transition table: what a state becomes by an event; null where nothing happens (a repeat, or a fact that
 * another overtook). The UPDATE statements of the store are this table in SQL, and a test holds them together.
 *
 * A payment that is confirmed issues the settlement; the chain status goes on by itself. `failed`
 * after `confirmed` means reversed on chain for good: a settlement that was not redeemed fails, a
 * redeemed one stays. While a payment is forked away it is not confirmed, so the gate is shut
 * (docs/spec/decisions.md, Redeem: before confirmation 409): a vendor must not deliver for a
 * payment that may never come back. Its window stands still meanwhile.
 */
export const next = ({ status, chain }: State, event: Event): State | null => {
  switch (event) {
    case 'signed':
      return null;
    case 'confirmed':
      if (status === 'pending') return { status: 'issued', chain: 'confirmed' };
      return chain === 'pending' && status !== 'failed' ? { status, chain: 'confirmed' } : null;
    case 'finalized':
      if (status === 'pending') return { status: 'issued', chain: 'finalized' };
      return chain !== 'finalized' && chain !== 'failed' ? { status, chain: 'finalized' } : null;
    case 'reopened':
      return chain === 'confirmed' ? { status, chain: 'pending' } : null;
    case 'failed':
      if (chain === 'finalized' || chain === 'failed') return null;
      return { status: status === 'redeemed' ? 'redeemed' : 'failed', chain: 'failed' };
    case 'redeem':
      return status === 'issued' && chain !== 'pending' ? { status: 'redeemed', chain } : null;
    case 'consume':
      if (chain !== 'confirmed' && chain !== 'finalized') return null;
      return status === 'issued' || status === 'redeemed' ? { status: 'redeemed', chain } : null;
    case 'elapse':
      return status === 'issued' && chain !== 'pending' ? { status: 'expired', chain } : null;
  }
};

/** What a payer is told of a failed attempt; the money did not move. */
export const failureExtras = (code: ErrorCode): ErrorExtras => ({
  money_moved: 'no',
  safe_action:
    code === 'insufficient_funds' ? 'top_up' : code === 'delegation_inactive' ? 'raise_limit' : 'new_quote',
});
