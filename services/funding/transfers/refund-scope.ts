import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { RefundScope } from './store/refunds.ts';

export type RefundCaller = PrincipalOf<readonly ['service_key', 'jwt']>;

/**
 * The refunds that a caller may read: a service those of its settlements, an account those that it
 * gives and gets, or those of one side.
 */
export const readScope = (
  caller: RefundCaller,
  role: 'payer' | 'vendor' | 'either' = 'either',
): RefundScope =>
  caller.kind === 'service_key'
    ? { as: 'service', service_id: caller.service_id }
    : { as: role, account_id: caller.account_id };

/** The refunds that a caller may submit and cancel: those of the vendor alone. */
export const vendorScope = (caller: RefundCaller): RefundScope =>
  caller.kind === 'service_key'
    ? { as: 'service', service_id: caller.service_id }
    : { as: 'vendor', account_id: caller.account_id };
