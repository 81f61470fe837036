import type { Records } from '../../../shared/boot.ts';
import type { Terms } from '../terms.ts';
import { findSession } from './find-session.ts';
import { isKnownBrowser } from './is-known-browser.ts';
import { listSessions } from './list-sessions.ts';

/** The reads of sessions. */
export const sessionOperations = (deps: Pick<Records, 'pool'> & Pick<Terms, 'cursorKeys'>) => ({
  findSession: findSession(deps),
  isKnownBrowser: isKnownBrowser(deps),
  listSessions: listSessions(deps),
});
