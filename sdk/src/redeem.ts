import { QuittanceError } from './errors.ts';
import type { CallOptions, Input, Output } from './types.ts';

type RedeemInput = Input<'settlement.redeem'>;
type Redeemed = Output<'settlement.redeem'>;
type Redeem = (input: RedeemInput, options?: CallOptions) => Promise<Redeemed>;

/**
 * Redeems a settlement, and returns only if the caller may deliver for it.
 *
 * Without a `redeem_id` every call is a delivery of its own: only the first call for a settlement
 * returns. With a `redeem_id` that you have stored, the call also returns for a repeat with the
 * same id, so that a process that crashed before its delivery can continue. Use one id for one
 * delivery, and record which deliveries were made.
 * @throws AlreadyRedeemedError if another call has redeemed it: do not deliver
 * @throws ApiError, NoAnswerError as `redeem` does: nothing may be delivered
 */
export type RedeemOnce = (input: RedeemInput, options?: CallOptions) => Promise<Redeemed>;

/**
 * Another call has redeemed this settlement, so its delivery is made or in progress. The API's
 * answer has the status `redeemed` in both cases. Do not deliver.
 */
export class AlreadyRedeemedError extends QuittanceError {
  override readonly name: string = 'AlreadyRedeemedError';
  readonly settlementId: string;
  /** When it was redeemed, ISO 8601 UTC. */
  readonly redeemedAt: string;
  /** The id of the call that has redeemed it. Null: it had none. */
  readonly redeemId: string | null;

  constructor({ settlement_id, redeemed_at, redeem_id }: Redeemed) {
    super(`Settlement ${settlement_id} was redeemed before, at ${redeemed_at}. Do not deliver again.`);
    this.settlementId = settlement_id;
    this.redeemedAt = redeemed_at;
    this.redeemId = redeem_id;
  }
}

export const createRedeemOnce =
  (redeem: Redeem): RedeemOnce =>
  async (input, options) => {
    // With an id of its own, a call whose answer was lost can be repeated.
    const redeem_id = input.redeem_id ?? crypto.randomUUID();
    const redeemed = await redeem({ ...input, redeem_id }, options);
    if (redeemed.replayed && redeemed.redeem_id !== redeem_id) throw new AlreadyRedeemedError(redeemed);
    return redeemed;
  };
