import type { Records } from '../../../shared/boot.ts';
import type { ServiceTerms } from '../terms.ts';
import { denyApproval } from './deny-approval.ts';
import { findApproval } from './find-approval.ts';
import { getApproval } from './get-approval.ts';
import { listApprovals } from './list-approvals.ts';
import { recordApproval } from './record-approval.ts';

/** The operations of this noun. */
export const approvalOperations = (
  deps: Pick<Records, 'pool' | 'reads' | 'relay'> & Pick<ServiceTerms, 'cursorKeys'>,
) => ({
  denyApproval: denyApproval(deps),
  findApproval: findApproval(deps),
  getApproval: getApproval(deps),
  listApprovals: listApprovals(deps),
  recordApproval: recordApproval(deps),
});
