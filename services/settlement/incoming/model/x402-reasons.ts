import type { IncomingReason } from '../../../../shared/contract/chain-submitter.ts';

const PAYLOAD = 'invalid_exact_svm_payload_';

/** Reasons whose name in x402 is not the prefix and the reason. */
const NAMES: Partial<Record<IncomingReason, string>> = {
  payee_not_ready: `${PAYLOAD}recipient_mismatch`,
  fee_payer_not_managed_by_facilitator: 'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
  // x402 names the position. The message names the instruction.
  unknown_instruction: `${PAYLOAD}unknown_fourth_instruction`,
  simulation_failed: 'invalid_exact_svm_transaction_simulation_failed',
  blockhash_expired: 'invalid_exact_svm_transaction_simulation_failed',
  insufficient_funds: 'insufficient_funds',
  budget_exhausted: 'facilitator_budget_exhausted',
  signing_paused: 'facilitator_paused',
  source_blocked: 'facilitator_source_blocked',
  closed: 'invalid_exact_svm_transaction_failed',
};

/** The reason code of x402 for a transaction that chain-submitter refuses. */
export const x402ReasonOf = (reason: IncomingReason): string => NAMES[reason] ?? `${PAYLOAD}${reason}`;

/** The reason of a settlement that failed, from its recorded code. */
export const x402FailureOf = (failureCode: string | null): string =>
  failureCode === 'insufficient_funds' ? 'insufficient_funds' : 'invalid_exact_svm_transaction_failed';
