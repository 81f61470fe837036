import { z } from 'zod';
import { AccountId } from '../primitives.ts';
import { Deposit } from './deposits.ts';
import { Moved } from './moved.ts';
import { Refund } from './refunds.ts';
import { Withdrawal } from './withdrawals.ts';

/** The events of funding. */
export const events = {
  moved: Moved,
  /**
   * The status has changed: the object as its owner reads it then. The answer of the call that
   * made it is not told.
   */
  withdrawalChanged: z.strictObject({ account_id: AccountId, withdrawal: Withdrawal }),
  refundChanged: z.strictObject({
    vendor_account_id: AccountId,
    payer_account_id: AccountId,
    refund: Refund,
  }),
  /** Without the provider's page: whoever has its address pays there. */
  depositChanged: z.strictObject({ account_id: AccountId, deposit: Deposit.omit({ redirect_url: true }) }),
};
