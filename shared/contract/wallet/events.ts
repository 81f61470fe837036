import { z } from 'zod';
import { SecurityNote } from '../identity/security-note.ts';
import { AccountId, MicroUsdcOrZero, SolanaAddress, Timestamp, WalletId } from '../primitives.ts';
import { DelegationStatus } from './operations.ts';

/** The events of wallet. */
export const events = {
  /**
   * The delegation changed on chain, or the token account was closed or reopened. Any party may
   * have made the change.
   */
  delegationChanged: z.strictObject({
    wallet_id: WalletId,
    account_id: AccountId,
    owner: SolanaAddress,
    status: DelegationStatus,
    previous_status: DelegationStatus,
    token_account_closed: z.boolean(),
    delegate: SolanaAddress.nullable(),
    allowance: MicroUsdcOrZero,
    balance: MicroUsdcOrZero,
    slot: z.int().min(0),
    observed_at: Timestamp,
  }),
  /** Something that the owner of an account should recognise. */
  securityNoted: SecurityNote,
};
