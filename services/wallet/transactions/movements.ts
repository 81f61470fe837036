import type { z } from 'zod';
import type { Moved } from '../../../shared/contract/funding.ts';
import type { settlement } from '../../../shared/contract/index.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { distinctBatches } from '../../../shared/lib/distinct-batches.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import type { Movement } from './model/transaction.ts';
import { upsertMovements } from './store/transactions.ts';

type Payment = Omit<z.infer<typeof settlement.events.issued>, 'quote_id' | 'scope'>;

/** The movement of a payment, from an event or an answer of settlement. */
export const movementOfPayment = (payment: Payment, status: Movement['status']): Movement => ({
  objectId: payment.settlement_id,
  type: 'payment',
  status,
  txHash: payment.tx_hash,
  details: {
    fromAccountId: payment.account_id,
    toAccountId: payment.vendor_account_id,
    amountMicro: parseMicro(payment.quote_amount),
    feeMicro: parseMicro(payment.fee_amount),
    serviceId: payment.service_id,
    delegateId: payment.delegate_id,
    item: payment.item ?? null,
    createdAt: payment.issued_at,
  },
});

/**
 * The movement of a deposit, withdrawal, refund or test funds, from an event or an answer of
 * funding.
 */
export const movementOfFunds = (moved: Moved): Movement => ({
  objectId: moved.object_id,
  type: moved.type,
  status: moved.status,
  txHash: moved.tx_hash,
  details: {
    fromAccountId: moved.from_account_id,
    toAccountId: moved.to_account_id,
    amountMicro: parseMicro(moved.amount),
    feeMicro: 0n,
    serviceId: moved.service_id,
    delegateId: moved.delegate_id,
    item: moved.item,
    createdAt: moved.created_at,
  },
});

/** Records the movements of a batch of events. Those of one object are recorded in their order. */
export const recordMovements =
  ({ pool }: { pool: Pool }) =>
  async (movements: readonly Movement[]): Promise<void> => {
    for (const round of distinctBatches(movements, ({ objectId }) => objectId))
      await upsertMovements(pool, round);
  };
