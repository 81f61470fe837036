import { createAccount } from './create-account.ts';
import { deleteSession } from './delete-session.ts';
import { logout } from './logout.ts';
import { readMagicLink } from './read-magic-link.ts';
import { refresh } from './refresh.ts';
import { requestMagicLink } from './request-magic-link.ts';
import { verifyMagicLink } from './verify-magic-link.ts';

/** How a person signs in by mail, stays signed in, and signs out. */
export const signInOperations = (
  deps: Parameters<typeof createAccount>[0] &
    Parameters<typeof refresh>[0] &
    Parameters<typeof requestMagicLink>[0],
) => ({
  createAccount: createAccount(deps),
  deleteSession: deleteSession(deps),
  logout: logout(deps),
  readMagicLink: readMagicLink(deps),
  refresh: refresh(deps),
  requestMagicLink: requestMagicLink(deps),
  verifyMagicLink: verifyMagicLink(deps),
});
