import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { TransactionScope } from './store/scope.ts';

/** The transactions that a caller may see: a delegate's key those of the delegate alone. */
export const scopeOf = (caller: PrincipalOf<readonly ['jwt', 'delegate_key']>): TransactionScope => ({
  account_id: caller.account_id,
  delegate_id: caller.kind === 'delegate_key' ? caller.delegate_id : null,
});
