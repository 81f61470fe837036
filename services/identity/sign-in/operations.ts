import type { Records } from '../../../shared/boot.ts';
import type { Terms } from '../terms.ts';
import { createAccount } from './create-account.ts';
import { deleteSession } from './delete-session.ts';
import { followMagicLink } from './follow-magic-link.ts';
import { logout } from './logout.ts';
import { readMagicLink } from './read-magic-link.ts';
import { refresh } from './refresh.ts';
import { requestMagicLink } from './request-magic-link.ts';
import { verifyMagicLink } from './verify-magic-link.ts';

/** How a person signs in by mail, stays signed in, and signs out. */
export const signInOperations = (deps: Records & Terms & { sendMailsNow: () => void }) => ({
  createAccount: createAccount(deps),
  deleteSession: deleteSession(deps),
  followMagicLink: followMagicLink(deps),
  logout: logout(deps),
  readMagicLink: readMagicLink(deps),
  refresh: refresh(deps),
  requestMagicLink: requestMagicLink(deps),
  verifyMagicLink: verifyMagicLink(deps),
});
