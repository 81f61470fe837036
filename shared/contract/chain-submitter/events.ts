import { Progress } from './progress.ts';

/** The events of chain-submitter. */
export const events = {
  settleProgressed: Progress,
  fundProgressed: Progress,
  delegationProgressed: Progress,
  tokenAccountProgressed: Progress,
  withdrawalProgressed: Progress,
  refundProgressed: Progress,
};
