import { deleteSession } from './delete-session.ts';
import { findSession } from './find-session.ts';
import { isKnownBrowser } from './is-known-browser.ts';
import { listSessions } from './list-sessions.ts';
import { logout } from './logout.ts';
import { readMagicLink } from './read-magic-link.ts';
import { refresh } from './refresh.ts';
import { requestMagicLink } from './request-magic-link.ts';
import { verifyMagicLink } from './verify-magic-link.ts';

/** The operations on sessions, for main.ts and for the tests that serve them over a real bus. */
export const sessionOperations = (
  deps: Parameters<typeof listSessions>[0] &
    Parameters<typeof refresh>[0] &
    Parameters<typeof requestMagicLink>[0],
) => ({
  deleteSession: deleteSession(deps),
  findSession: findSession(deps),
  isKnownBrowser: isKnownBrowser(deps),
  listSessions: listSessions(deps),
  logout: logout(deps),
  readMagicLink: readMagicLink(deps),
  refresh: refresh(deps),
  requestMagicLink: requestMagicLink(deps),
  verifyMagicLink: verifyMagicLink(deps),
});
