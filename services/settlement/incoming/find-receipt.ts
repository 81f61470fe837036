import type { Records } from '../../../shared/boot.ts';
import { makeReceipt, type ReceiptDeps } from '../receipts/get-receipt.ts';
import { getSettlement } from '../record/store/settlements.ts';

export type FindReceiptDeps = ReceiptDeps & Pick<Records, 'pool' | 'logger'>;

/** Null: what it needs of another service is not there. The payment is made all the same. */
export const findReceipt = async (deps: FindReceiptDeps, settlementId: string): Promise<string | null> => {
  try {
    return (await makeReceipt(deps, await getSettlement(deps.pool, settlementId))).receipt_url;
  } catch (error) {
    deps.logger.warn({ err: error, settlement_id: settlementId }, 'receipt of a payment link not made');
    return null;
  }
};
