import type { Progress } from '../../../../shared/contract/chain-submitter.ts';

/**
 * The answer of chain-submitter to a question about a payment, which is newer than all events that
 * were recorded when it was asked. After a restore chain-submitter may know fewer generations, and
 * an event with an older generation records nothing.
 * @param generation of the record when the question was asked
 */
export const answerTo = (generation: number, progress: Progress): Progress => ({
  ...progress,
  generation: Math.max(generation, progress.generation),
});
