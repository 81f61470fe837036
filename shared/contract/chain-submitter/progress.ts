import { z } from 'zod';
import { TransactionHash } from '../primitives.ts';

/**
 * How far an intent has come. `signed`: bytes are committed, they may land. `failed`: proven that
 * nothing moved and nothing will. `reopened`: a confirmed transaction was forked away and is driven
 * again.
 */
export const Progress = z.strictObject({
  /**
   * `settlement_id`, the id of the fund, withdrawal or refund, or the preparation's id: what the
   * asking service calls it.
   */
  object_id: z.string(),
  status: z.enum(['signed', 'confirmed', 'finalized', 'failed', 'reopened']),
  /** Rises with every newly signed transaction of the intent; a fact of an older one is void. */
  generation: z.int().min(0).max(1_000_000),
  tx_hash: TransactionHash.nullable(),
  /** Slot the transaction landed in, null before. */
  slot: z.int().min(0).nullable(),
  failure: z
    .strictObject({
      code: z.enum(['insufficient_funds', 'delegation_inactive', 'payment_failed']),
      message: z.string(),
    })
    .nullable(),
});
export type Progress = z.infer<typeof Progress>;
