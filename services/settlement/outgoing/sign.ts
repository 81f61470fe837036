import type { z } from 'zod';
import type { Records } from '../../../shared/boot.ts';
import type { Lost } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { isOutgoingRail, type settlement } from '../../../shared/contract/settlement.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { Payee } from '../../../shared/lib/money/payees.ts';
import { mayBePaid } from '../core/carry-out.ts';
import type { Peers } from '../peers.ts';
import { type ApplyProgress, refusedProgress } from '../record/model/progress.ts';
import { failedError } from '../record/model/refusal.ts';
import { isPaid } from '../record/model/status.ts';
import {
  findOutgoingAttempt,
  type OutgoingRow,
  recordHandedOut,
} from '../record/store/outgoing/outgoing-payments.ts';
import { findLostTime } from '../record/store/restores.ts';
import { chargeOf } from './model/challenge.ts';
import { paymentSignature } from './model/payment-signature.ts';
import { OUTGOING } from './rail.ts';

type Answer = z.infer<typeof settlement.operations.payExternal.output>;

/** What signing and its answer need of a payment. */
export type Signable = Pick<
  OutgoingRow,
  | 'settlement_id'
  | 'rail'
  | 'status'
  | 'chain_status'
  | 'quote_amount'
  | 'x402_version'
  | 'message_hash'
  | 'tx_hash'
  | 'failure_code'
  | 'failure_message'
> & {
  account_id: string;
  payment_attempt_id: string;
  requirement: string;
  resource: string;
  payees: readonly Payee[];
  payer_address: string;
  owner: string;
  capped_at: number;
};
/** A settlement of an outgoing rail, whose columns its CHECK requires. */
export type Outgoing = OutgoingRow & Signable;
export const isOutgoing = (row: OutgoingRow): row is Outgoing => isOutgoingRail(row.rail);

export type SignDeps = Pick<Records, 'pool'> & Pick<Peers, 'signOutgoing'> & { applyProgress: ApplyProgress };

/**
 * chain-submitter did not answer. Bytes that were never handed out cannot be used, so a first call
 * has moved nothing. The row is read again, because another call of the attempt may have handed
 * them out meanwhile. The sweeper ends the payment if no repeat comes.
 */
const unavailable = async (
  { pool }: Pick<SignDeps, 'pool'>,
  { settlement_id, account_id, payment_attempt_id }: Signable,
  lost: Lost | null,
): Promise<ServiceError> => {
  // Bytes of the lost time may have been handed out.
  if (lost !== null) return mayBePaid(OUTGOING, settlement_id);
  const row = await findOutgoingAttempt(pool, account_id, payment_attempt_id);
  return new ServiceError(
    'service_unavailable',
    'the payment cannot be signed right now; repeat with the same payment_attempt_id',
    {
      money_moved: row?.message_hash === null ? 'no' : 'unknown',
      safe_action: 'retry_same_attempt',
      settlement_id,
      retryAfterSeconds: 1,
    },
  );
};

/** The vendor's own address, which is the first payee. The further ones are splits of MPP. */
const recipientOf = ({ payees: [recipient] }: Signable): string => recipient!.address;

/** What the transaction of a payment does. */
export const paymentOf = (row: Signable) => {
  const requirement = JSON.parse(row.requirement);
  const { feePayer, memo } = requirement.extra ?? {};
  const asked =
    row.rail === 'mpp_out'
      ? chargeOf(requirement)
      : { fee_payer: feePayer as string, memo: (memo ?? null) as string | null };
  return {
    owner: row.owner,
    authority: row.payer_address,
    pay_to: recipientOf(row),
    amount: formatMicro(row.quote_amount),
    ...asked,
  };
};

/** Much longer than bytes can be included. */
const INCLUDED_WITHIN_MS = 86_400_000;

/** The time in which the transaction of a payment is on the chain, if ever. */
export const timeOf = ({ created_at, owner }: Outgoing): Lost => ({
  since: isoTime(created_at),
  until: isoTime(created_at + INCLUDED_WITHIN_MS),
  owners: [owner],
});

/** Requests the bytes of a payment from chain-submitter, which signs them once. */
const requestSignature = async ({ signOutgoing, ...deps }: SignDeps, row: Signable, lost: Lost | null) => {
  try {
    return await signOutgoing({
      account_id: row.account_id,
      payment_attempt_id: row.payment_attempt_id,
      settlement_id: row.settlement_id,
      message_hash: row.message_hash,
      ...paymentOf(row),
      // Both services count the payment in one hour, whenever it is signed.
      accepted_at: isoTime(row.capped_at),
      lost,
    });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === 'service_unavailable') throw await unavailable(deps, row, lost);
    if (error.code !== 'conflict' || row.message_hash !== null) throw error;
    // A restore has lost the record of another payment with this attempt id. It keeps its bytes,
    // and nothing is signed for this one.
    return { outcome: 'refused' as const, reason: 'closed' as const, message: error.message };
  }
};

/**
 * Signs an accepted payment, or gets the bytes that were signed for it before, and returns them.
 * @throws ServiceError the failure of a payment that failed or is refused by chain-submitter;
 * service_unavailable when chain-submitter does not answer, or the chain may have a payment of the
 * attempt whose record is lost
 */
export const answerSigned = async (deps: SignDeps, row: Signable): Promise<Answer> => {
  if (row.status === 'failed') throw failedError(row, row.settlement_id);
  const { pool } = deps;
  const lost = row.message_hash === null ? await findLostTime(pool, row.account_id) : null;
  const answer = await requestSignature(deps, row, lost);
  if (answer.outcome === 'undecided') throw mayBePaid(OUTGOING, row.settlement_id);
  if (answer.outcome === 'refused') {
    await deps.applyProgress(refusedProgress(row.settlement_id, answer));
    const ended = await findOutgoingAttempt(pool, row.account_id, row.payment_attempt_id);
    throw ended?.status === 'failed'
      ? failedError(ended, ended.settlement_id)
      : await unavailable(deps, row, lost);
  }
  // The record comes first: a payment without it has no bytes that anybody could use.
  if (row.message_hash === null) {
    const { message_hash: messageHash, source_account: sourceAccount } = answer;
    await recordHandedOut(pool, row.settlement_id, { messageHash, sourceAccount });
    await failpoint('settlement.beforeHandOut');
  }
  const { transaction } = answer;
  return {
    settlement_id: row.settlement_id,
    status: isPaid(row.chain_status) ? 'confirmed' : 'pending',
    payment_signature: paymentSignature({
      version: row.x402_version,
      requirement: JSON.parse(row.requirement),
      resource: row.resource,
      transaction,
    }),
    transaction,
    tx_hash: row.tx_hash ?? answer.tx_hash,
  };
};
