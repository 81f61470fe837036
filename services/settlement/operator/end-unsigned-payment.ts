import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { recordAction } from '../../../shared/operator/actions.ts';
import { type Outgoing, paymentOf, timeOf } from '../outgoing/sign.ts';
import type { Peers } from '../peers.ts';
import type { ApplyProgress } from '../record/model/progress.ts';
import { getSettlement } from '../record/store/settlements.ts';
import { getUnsigned, searchUnsigned, type UnsignedDeps } from './unsigned.ts';

export type EndUnsignedDeps = UnsignedDeps & Pick<Peers, 'closeOutgoing'> & { applyProgress: ApplyProgress };

/**
 * Whether chain-submitter has the record of handed-out bytes, or has found their transaction.
 * @throws ServiceError service_unavailable when the chain cannot be searched
 */
const isRecorded = async (
  { closeOutgoing, applyProgress }: EndUnsignedDeps,
  row: Outgoing,
): Promise<boolean> => {
  const { settlement_id, account_id, payment_attempt_id, message_hash } = row;
  const attempt = { settlement_id, account_id, payment_attempt_id, message_hash };
  try {
    await applyProgress(await closeOutgoing({ ...attempt, lost: { ...timeOf(row), ...paymentOf(row) } }));
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error;
    return false;
  }
};

/**
 * Ends a payment of which the chain proves nothing, on the word of the operator. A later or
 * concurrent call of its payer finds the failed intent, or has signed it before.
 */
export const endUnsignedPayment =
  (deps: EndUnsignedDeps): Handler<typeof settlement.internal.endUnsignedPayment> =>
  async ({ settlement_id, ...operator }) => {
    const { pool, closeOutgoing, applyProgress } = deps;
    const row = await getUnsigned(deps, settlement_id);
    if (row.message_hash !== null && (await isRecorded(deps, row)))
      throw conflict('the bytes of the payment were handed out: only the chain ends it');
    const { found, transactions } = await searchUnsigned(deps, row);
    if (found === 'paid')
      throw conflict(
        `the chain has the payment, ${transactions[0]}: it is adopted when its payer repeats it`,
      );
    const { account_id, payment_attempt_id } = row;
    await recordAction(pool, operator, {
      action: 'settlement.endUnsigned',
      target: settlement_id,
      before: { status: row.status },
      after: { status: 'failed', transactions },
    });
    // Without the message: the operator has seen that nobody can use it any more.
    const attempt = { settlement_id, account_id, payment_attempt_id, message_hash: null };
    await applyProgress(await closeOutgoing({ ...attempt, lost: null }));
    const { status, chain_status } = await getSettlement(pool, settlement_id);
    return { status, chain_status };
  };
