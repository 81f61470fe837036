import { z } from 'zod';
import { AccountId, DelegateId, ServiceId, WalletId } from './primitives.ts';

/** Present if an operator has frozen the account. */
const frozen = z.literal(true).optional();

/**
 * The caller. The gateway derives it from the credential, and only `rpc.*` messages carry it. No
 * field of a body can set it.
 */
export const Principal = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('service_key'),
    account_id: AccountId,
    service_id: ServiceId,
    key_id: z.string(),
    frozen,
  }),
  z.strictObject({
    kind: z.literal('delegate_key'),
    account_id: AccountId,
    delegate_id: DelegateId,
    wallet_id: WalletId,
    key_id: z.string(),
    frozen,
  }),
  z.strictObject({
    kind: z.literal('jwt'),
    account_id: AccountId,
    session_id: z.string(),
    /** Unix time of the sign-in in seconds. A refresh does not renew it (step-up). */
    auth_time: z.int().min(0).max(4102444800),
    /** Present if a device signed in by a code that a person has confirmed (docs/adr/0046). */
    device: z.literal(true).optional(),
    frozen,
  }),
]);

export type Principal = z.infer<typeof Principal>;
export type CredentialKind = Exclude<Principal['kind'], 'none'>;

/** The principals that can call an operation with this access list; `[]` means no credential. */
export type PrincipalOf<Access extends readonly CredentialKind[]> = Access extends readonly []
  ? Extract<Principal, { kind: 'none' }>
  : Extract<Principal, { kind: Access[number] }>;
