import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import type { CloseAuthorizations } from '../authorizations/close-authorizations.ts';

/**
 * Closes what a frozen account has authorized, and what was authorized for it: what is captured of
 * an authorization is decided later, by its vendor.
 */
export const accountFrozen =
  ({ closeAuthorizations }: { closeAuthorizations: CloseAuthorizations }) =>
  ({ account_id }: z.infer<typeof identity.events.accountFrozen>): Promise<void> =>
    closeAuthorizations({ account_id, as: 'payer or vendor' });
