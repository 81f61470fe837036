import type { z } from 'zod';
import type { Moved } from '../../shared/contract/funding.ts';
import type { settlement } from '../../shared/contract/index.ts';
import { distinctBatches } from '../../shared/lib/distinct-batches.ts';
import { parseMicro } from '../../shared/lib/micro.ts';
import type { Deps } from './deps.ts';
import type { Movement } from './domain/transaction.ts';
import { putMovements } from './store/transactions.ts';

type Payment = Omit<z.infer<typeof settlement.events.issued>, 'quote_id'>;

/** A payment as the settlement service tells it. */
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
    createdAt: payment.issued_at,
  },
});

/** A deposit, withdrawal, refund or test funding as the funding service tells it. */
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
    createdAt: moved.created_at,
  },
});

/** Takes over what was told of transfers, in the order in which it was told of each. */
export const takeMovements =
  ({ pool }: Pick<Deps, 'pool'>) =>
  async (movements: readonly Movement[]): Promise<void> => {
    for (const round of distinctBatches(movements, ({ objectId }) => objectId))
      await putMovements(pool, round);
  };
