import { closeOutgoing } from '../../services/chain-submitter/outgoing/close-outgoing.ts';
import { findLostOutgoing } from '../../services/chain-submitter/outgoing/find-lost-outgoing.ts';
import { observeOutgoing } from '../../services/chain-submitter/outgoing/observe-outgoing.ts';
import { signOutgoing } from '../../services/chain-submitter/outgoing/sign-outgoing.ts';
import { requestApproval } from '../../services/settlement/approvals/request-approval.ts';
import { outgoingPaymentOperations } from '../../services/settlement/outgoing/operations.ts';
import { resumeOutgoing } from '../../services/settlement/outgoing/resume-outgoing.ts';
import { onSettleProgressed } from '../../services/settlement/settlements/on-chain-submitter-settle-progressed.ts';
import type { Progress } from '../../shared/contract/chain-submitter.ts';
import type { Harness, Process } from './harness.ts';
import { callTo, every } from './process-jobs.ts';

type SubmitterDeps = Parameters<typeof signOutgoing>[0] &
  Parameters<typeof closeOutgoing>[0] &
  Parameters<typeof observeOutgoing>[0] &
  Parameters<typeof findLostOutgoing>[0];

/** The operations of chain-submitter that outgoing payments need. */
export const outgoingOperations = (deps: SubmitterDeps) => ({
  signOutgoing: signOutgoing(deps),
  closeOutgoing: closeOutgoing(deps),
  observeOutgoing: observeOutgoing(deps),
  findLostOutgoing: findLostOutgoing(deps),
});
type Operations = ReturnType<typeof outgoingOperations> & { process: Process };

/** The network of the requirements of a run. */
export const X402_NETWORK = 'solana:simulated';
const ROUND_MS = 2000;

type Deps = Omit<
  Parameters<typeof outgoingPaymentOperations>[0] &
    Parameters<typeof requestApproval>[0] &
    Parameters<typeof onSettleProgressed>[0],
  keyof ReturnType<typeof outgoingOperations> | 'applyProgress' | 'requestApproval' | 'x402Network'
>;

/** The outgoing payments of a replica of settlement: the product's handlers and job. */
export const startOutgoing = (
  harness: Harness,
  deps: Deps,
  { process, submitters }: { process: Process; submitters: () => readonly Operations[] },
) => {
  const submitter = callTo(harness, process, submitters);
  const observe: Operations['observeOutgoing'] = async (payment) => {
    const progress = await submitter((one) => one.observeOutgoing(payment));
    const { settlement_id: object_id, tx_hash } = payment;
    // Mutation: the vendor's word is a confirmation.
    if (harness.off !== 'outgoing: a hint proves nothing' || tx_hash === null) return progress;
    const claimed: Progress = {
      object_id,
      status: 'confirmed',
      generation: 1,
      tx_hash,
      slot: 1,
      failure: null,
    };
    return claimed;
  };
  const outgoing = {
    ...deps,
    x402Network: X402_NETWORK,
    signOutgoing: ((payment) => submitter((one) => one.signOutgoing(payment))) as Operations['signOutgoing'],
    closeOutgoing: ((payment) =>
      submitter((one) => one.closeOutgoing(payment))) as Operations['closeOutgoing'],
    findLostOutgoing: ((payment) =>
      submitter((one) => one.findLostOutgoing(payment))) as Operations['findLostOutgoing'],
    observeOutgoing: observe,
    applyProgress: onSettleProgressed(deps),
    requestApproval: (request: Parameters<typeof requestApproval>[1]) => requestApproval(deps, request),
  };
  every(harness, process, ROUND_MS, resumeOutgoing(outgoing));
  return outgoingPaymentOperations(outgoing);
};
