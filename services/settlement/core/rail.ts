import type { Terms } from '../record/store/settlements.ts';
import type { Stalling } from '../record/store/stalled.ts';

/**
 * What differs between the rails of a settlement, for the code that accepts, answers and resumes
 * all of them.
 * @typeParam Attempt a payment of the rail, as it is accepted
 * @typeParam Claimed what the resume of one without progress reads
 */
export type Rail<Attempt, Claimed> = Stalling<Claimed> & {
  /** The terms of an accepted payment, which never change. */
  termsOf: (attempt: Attempt, createdAt: number) => Terms;
  /**
   * The message for a payment whose record a restore may have lost, while the chain does not
   * disprove it.
   */
  mayBePaid: string;
};
