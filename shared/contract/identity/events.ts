import { z } from 'zod';
import { AccountId, DelegateId, EventId, label, ServiceId, Timestamp, WalletId } from '../primitives.ts';

/** Identity of a change, its account, and its time. */
const change = { change_id: EventId, account_id: AccountId, at: Timestamp };

/** The events of identity. */
export const events = {
  /** Keys that are refused from now on, by the hash of their text. Caches drop them. */
  keysRevoked: z.strictObject({ key_hashes: z.array(z.string()) }),
  sessionRevoked: z.strictObject({ account_id: AccountId, session_id: z.string() }),
  delegateChanged: z.strictObject({
    ...change,
    change: z.enum(['created', 'updated', 'deleted']),
    delegate_id: DelegateId,
    name: label(80, 'Research agent'),
    wallet_id: WalletId,
    expires_at: Timestamp.nullable(),
  }),
  /**
   * The key of a service or of a delegate was replaced, or all its keys were revoked. It never
   * holds a key or its hash.
   */
  keyChanged: z.strictObject({
    ...change,
    change: z.enum(['rotated', 'revealed', 'ended']),
    service_id: ServiceId.nullable(),
    delegate_id: DelegateId.nullable(),
    previous_key_expires_at: Timestamp.nullable(),
  }),
  /** An operator has frozen the account. */
  accountFrozen: z.strictObject({ account_id: AccountId, at: Timestamp }),
  /** The owner has closed the account. Nothing of it works any more. */
  accountClosed: z.strictObject({ account_id: AccountId, at: Timestamp }),
  /** The personal data of a closed account are erased. Each service erases its own. */
  accountErased: z.strictObject({ account_id: AccountId, at: Timestamp }),
};
