import type { Progress } from '../../../shared/contract/chain-submitter.ts';

/**
 * What withdrawals and refunds go through, besides the state in which they wait for their owner
 * (docs/spec/decisions.md, Funding).
 */
export type Moved = 'submitted' | 'confirmed' | 'finalized' | 'failed' | 'cancelled' | 'expired';
/** Facts of chain-submitter, the owner's cancel, and the end of its life. */
export type Event = Progress['status'] | 'cancel' | 'elapse';
export type Step<Waiting extends string> = { to: Moved; from: readonly (Waiting | Moved)[] };

/**
 * The transition table: what an event makes of an object, and from which states. Facts repeat and overtake one another,
 * so each names all states that it may change, and nothing leaves the last four. A transfer that was submitted never
 * waits again: its owner's signature is out, and one co-signed transaction per object is all there ever is. What was
 * forked away is `submitted` again, and is driven with the same bytes.
 */
export const steps = <Waiting extends string>(waiting: Waiting): Record<Event, Step<Waiting>> => ({
  signed: { to: 'submitted', from: [waiting, 'submitted'] },
  confirmed: { to: 'confirmed', from: [waiting, 'submitted'] },
  finalized: { to: 'finalized', from: [waiting, 'submitted', 'confirmed'] },
  failed: { to: 'failed', from: [waiting, 'submitted', 'confirmed'] },
  reopened: { to: 'submitted', from: ['confirmed'] },
  cancel: { to: 'cancelled', from: [waiting] },
  elapse: { to: 'expired', from: [waiting] },
});
