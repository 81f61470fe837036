import type { StoredAnswer } from './answers.ts';

/**
 * How a delivery has ended.
 * - `delivered`: the buyer has it. `answer` is null if it is not stored for a repeat.
 * - `failed`: the buyer may request it again.
 * - `undone`: as if it had not been requested; nothing was taken.
 * - `gone`: the run has ended because the buyer disconnected. One more request may run the handler.
 */
export type End = { kind: 'delivered'; answer: StoredAnswer | null } | { kind: 'failed' | 'undone' | 'gone' };

/** Ends a delivery. Later calls change nothing. Never throws. */
export type Finish = (end: End) => Promise<void>;

/**
 * The buyer disconnected while the handler runs. One more request may run it. `finish` follows when
 * the run has ended. Never throws.
 */
export type BuyerLeft = () => Promise<void>;

export const delivered = (answer: StoredAnswer | null): End => ({ kind: 'delivered', answer });
export const FAILED: End = { kind: 'failed' };
export const UNDONE: End = { kind: 'undone' };
export const GONE: End = { kind: 'gone' };
