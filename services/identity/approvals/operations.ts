import { approvalOptions } from './approval-options.ts';
import { approve } from './approve.ts';

/** The operations on approvals, for main.ts and for the tests that serve them over a real bus. */
export const approvalOperations = (
  deps: Parameters<typeof approvalOptions>[0] & Parameters<typeof approve>[0],
) => ({
  approvalOptions: approvalOptions(deps),
  approve: approve(deps),
});
