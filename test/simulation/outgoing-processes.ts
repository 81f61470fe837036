import { closeExternal } from '../../services/chain-submitter/outgoing/close-external.ts';
import { findLostExternal } from '../../services/chain-submitter/outgoing/find-lost-external.ts';
import { observeExternal } from '../../services/chain-submitter/outgoing/observe-external.ts';
import { signExternal } from '../../services/chain-submitter/outgoing/sign-external.ts';
import { requestApproval } from '../../services/settlement/approvals/request-approval.ts';
import { externalPaymentOperations } from '../../services/settlement/external-payments/operations.ts';
import { resumeExternal } from '../../services/settlement/external-payments/resume-external.ts';
import { onSettleProgressed } from '../../services/settlement/settlements/on-chain-submitter-settle-progressed.ts';
import type { Progress } from '../../shared/contract/chain-submitter.ts';
import type { Harness, Process } from './harness.ts';
import { callTo, every } from './process-jobs.ts';

type SubmitterDeps = Parameters<typeof signExternal>[0] &
  Parameters<typeof closeExternal>[0] &
  Parameters<typeof observeExternal>[0] &
  Parameters<typeof findLostExternal>[0];

/** The operations of chain-submitter that outgoing payments need. */
export const outgoingOperations = (deps: SubmitterDeps) => ({
  signExternal: signExternal(deps),
  closeExternal: closeExternal(deps),
  observeExternal: observeExternal(deps),
  findLostExternal: findLostExternal(deps),
});
type Operations = ReturnType<typeof outgoingOperations> & { process: Process };

/** The network of the requirements of a run. */
export const X402_NETWORK = 'solana:simulated';
const ROUND_MS = 2000;

type Deps = Omit<
  Parameters<typeof externalPaymentOperations>[0] &
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
  const observe: Operations['observeExternal'] = async (payment) => {
    const progress = await submitter((one) => one.observeExternal(payment));
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
  const external = {
    ...deps,
    x402Network: X402_NETWORK,
    signExternal: ((payment) => submitter((one) => one.signExternal(payment))) as Operations['signExternal'],
    closeExternal: ((payment) =>
      submitter((one) => one.closeExternal(payment))) as Operations['closeExternal'],
    findLostExternal: ((payment) =>
      submitter((one) => one.findLostExternal(payment))) as Operations['findLostExternal'],
    observeExternal: observe,
    applyProgress: onSettleProgressed(deps),
    requestApproval: (request: Parameters<typeof requestApproval>[1]) => requestApproval(deps, request),
  };
  every(harness, process, ROUND_MS, resumeExternal(external));
  return externalPaymentOperations(external);
};
