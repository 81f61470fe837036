import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import type { CloseAuthorizations } from '../authorizations/close-authorizations.ts';

/** Closes what a sign-in has authorized that has ended. */
export const sessionRevoked =
  ({ closeAuthorizations }: { closeAuthorizations: CloseAuthorizations }) =>
  ({ account_id, session_id }: z.infer<typeof identity.events.sessionRevoked>): Promise<void> =>
    closeAuthorizations({ account_id, session_id });
