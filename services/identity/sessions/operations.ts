import { findSession } from './find-session.ts';
import { isKnownBrowser } from './is-known-browser.ts';
import { listSessions } from './list-sessions.ts';

/** The reads of sessions, for main.ts and for the tests that serve them over a real bus. */
export const sessionOperations = (deps: Parameters<typeof listSessions>[0]) => ({
  findSession: findSession(deps),
  isKnownBrowser: isKnownBrowser(deps),
  listSessions: listSessions(deps),
});
