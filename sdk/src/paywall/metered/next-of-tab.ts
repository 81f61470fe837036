import type { Refusal } from '../base/answers.ts';
import type { MeteredBill } from '../base/metered-route.ts';

/** What a call finds at its tab, in this order. What follows a member that decides is not read. */
export type TabState = {
  /** Why the authorization serves no request, or null. */
  refusal: Refusal | null;
  /** Whether the price was taken, another request has this record, or less is left. */
  count: 'taken' | 'held' | 'empty';
  /** What is left, in micro-units. Null: the store has no number; negative: the tab is closed. */
  left: bigint | null;
  /** Whether concurrent calls are under way, which may release what they do not use. */
  hasOthers: boolean;
};

/**
 * - `deliver`: the price is taken. `busy`: another request has this record
 * - `refuse`: with the refusal of the authorization. `end`: the same, and the tab ends
 * - `fill`: the number is written. `retire`: the authorization is opened again
 * - `wait`: for the others. `extend`: the buyer is offered that. `use up`: the tab is captured
 * - `again`: nothing; the price is asked for again
 */
type NextOfTab =
  | 'deliver'
  | 'busy'
  | 'refuse'
  | 'end'
  | 'fill'
  | 'retire'
  | 'wait'
  | 'extend'
  | 'use up'
  | 'again';

/** What a call does next with its tab. */
export const nextOfTab = (
  { refusal, count, left, hasOthers }: TabState,
  { perCall, fixed, extend }: Pick<MeteredBill, 'perCall' | 'fixed' | 'extend'>,
): NextOfTab => {
  if (refusal !== null) return refusal.error === 'payment_required' ? 'end' : 'refuse';
  if (count !== 'empty') return count === 'taken' ? 'deliver' : 'busy';
  if (left === null) return 'fill';
  if (left < 0n) return 'retire';
  // It has grown since the price was asked for.
  if (left >= perCall) return 'again';
  // Calls at a fixed price use all that they take.
  if (fixed === null && hasOthers) return 'wait';
  return extend ? 'extend' : 'use up';
};
