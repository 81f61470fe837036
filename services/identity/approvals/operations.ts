import type { Records } from '../../../shared/boot.ts';
import type { Peers } from '../peers.ts';
import type { Terms } from '../terms.ts';
import { approvalOptions } from './approval-options.ts';
import { approve } from './approve.ts';

/** The operations on approvals. */
export const approvalOperations = (deps: Records & Terms & Peers & { sendMailsNow: () => void }) => ({
  approvalOptions: approvalOptions(deps),
  approve: approve(deps),
});
