import { z } from 'zod';
import { SecurityNote } from '../identity/security-note.ts';
import { AccountId } from '../primitives.ts';
import { Deposit } from './deposits.ts';
import { Moved } from './moved.ts';
import { Refund } from './refunds.ts';
import { Withdrawal } from './withdrawals.ts';

/** The events of funding. */
export const events = {
  moved: Moved,
  /**
   * The status has changed. The event holds the object as its owner reads it then. Creation is not
   * published, because the answer of the creating call reports it.
   */
  withdrawalChanged: z.strictObject({ account_id: AccountId, withdrawal: Withdrawal }),
  refundChanged: z.strictObject({
    vendor_account_id: AccountId,
    payer_account_id: AccountId.nullable(),
    refund: Refund,
  }),
  /** Without the address of the provider's page, because anyone who has it can pay there. */
  depositChanged: z.strictObject({ account_id: AccountId, deposit: Deposit.omit({ redirect_url: true }) }),
  /** Something that the owner of an account should recognise. */
  securityNoted: SecurityNote,
};
