import { z } from 'zod';
import { TransactionHash } from '../primitives.ts';

/**
 * The progress of an intent. `signed`: the signed bytes are committed and may be included.
 * `failed`: it is proven that nothing moved and nothing will. `reopened`: a fork dropped a
 * confirmed transaction, and the intent is executed again.
 */
export const Progress = z.strictObject({
  /**
   * `settlement_id`, the id of the fund, withdrawal or refund, or the preparation's id, as the
   * calling service named it.
   */
  object_id: z.string(),
  status: z.enum(['signed', 'confirmed', 'finalized', 'failed', 'reopened']),
  /**
   * Increases with every newly signed transaction of the intent. An event of an older generation is
   * void.
   */
  generation: z.int().min(0).max(1_000_000),
  tx_hash: TransactionHash.nullable(),
  /**
   * Slot in which the transaction was included, null before. `failed` with a slot: the chain has
   * included and refused it, so its fees are spent.
   */
  slot: z.int().min(0).nullable(),
  failure: z
    .strictObject({
      code: z.enum(['insufficient_funds', 'delegation_inactive', 'payment_failed']),
      message: z.string(),
    })
    .nullable(),
});
export type Progress = z.infer<typeof Progress>;
