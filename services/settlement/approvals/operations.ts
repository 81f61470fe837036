import { denyApproval } from './deny-approval.ts';
import { findApproval } from './find-approval.ts';
import { getApproval } from './get-approval.ts';
import { listApprovals } from './list-approvals.ts';
import { recordApproval } from './record-approval.ts';

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const approvalOperations = (
  deps: Parameters<typeof listApprovals>[0] & Parameters<typeof denyApproval>[0],
) => ({
  denyApproval: denyApproval(deps),
  findApproval: findApproval(deps),
  getApproval: getApproval(deps),
  listApprovals: listApprovals(deps),
  recordApproval: recordApproval(deps),
});
