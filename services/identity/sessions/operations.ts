import type { Records } from '../../../shared/boot.ts';
import type { Terms } from '../terms.ts';
import { findSessions } from './find-sessions.ts';
import { isKnownBrowser } from './is-known-browser.ts';
import { listSessions } from './list-sessions.ts';

/** The reads of sessions. */
export const sessionOperations = (deps: Pick<Records, 'pool' | 'reads'> & Pick<Terms, 'cursorKeys'>) => ({
  findSessions: findSessions(deps),
  isKnownBrowser: isKnownBrowser(deps),
  listSessions: listSessions(deps),
});
