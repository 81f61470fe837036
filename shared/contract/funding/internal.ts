import { z } from 'zod';
import { accountActivityOperation } from '../account-activity.ts';
import { operatorOperations } from '../operator.ts';
import { MicroUsdcOrZero, SettlementId } from '../primitives.ts';
import { listSentEvents } from '../sent-events.ts';
import { internalOperation } from '../service.ts';
import { MAX_RECEIPT_REFUNDS, ReceiptRefund } from '../settlement/receipts.ts';
import { Moved } from './moved.ts';

/** Maximum number of transfers of one call of listMoved. */
export const MAX_MOVED_LISTED = 500;

/** The internal operations of funding. */
export const internal = {
  ...operatorOperations,
  listSentEvents: listSentEvents(['identity', 'wallet', 'webhook']),
  getAccountActivity: accountActivityOperation,
  listMoved: internalOperation({
    summary:
      'Every transfer that was ever confirmed, with its current state, in the order of object_id. For rebuilding a projection.',
    callers: ['wallet'],
    input: z.strictObject({
      after: z.string().max(64).nullable(),
      limit: z.int().min(1).max(MAX_MOVED_LISTED),
    }),
    output: z.array(Moved),
  }),
  listConfirmedRefunds: internalOperation({
    summary:
      'The confirmed refunds of a settlement, oldest first, with the number and sum of all. For its receipt.',
    callers: ['settlement'],
    input: z.strictObject({ settlement_id: SettlementId }),
    output: z.strictObject({
      refunds: z.array(ReceiptRefund).max(MAX_RECEIPT_REFUNDS),
      count: z.int().min(0),
      total: MicroUsdcOrZero,
    }),
  }),
};
