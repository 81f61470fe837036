import type { Pool } from '../../../shared/db/pool.ts';
import { purgeDeviceSignIns } from '../devices/store/device_sign_ins.ts';
import { purgeRevealLinks } from '../keys/store/reveal_links.ts';
import { purgeHandledEvents, purgeMails } from '../mails/store.ts';
import { purgeChallenges } from '../passkeys/store/passkey_challenges.ts';
import { purgeSpendingDays } from '../payments/store.ts';
import { purgeSecurityEvents } from '../security/store.ts';
import { purgeKnownBrowsers } from '../sessions/store/known_browsers.ts';
import { purgeLoginLinks } from '../sessions/store/login_links.ts';
import { purgeSessions } from '../sessions/store/sessions.ts';

/**
 * Deletes rows that no call can use any more. Correctness does not depend on it, because every
 * query checks the time itself.
 */
export const purge =
  ({ pool }: { pool: Pool }) =>
  async (): Promise<void> => {
    await purgeLoginLinks(pool);
    await purgeKnownBrowsers(pool);
    await purgeMails(pool);
    await purgeHandledEvents(pool);
    await purgeRevealLinks(pool);
    await purgeChallenges(pool);
    await purgeDeviceSignIns(pool);
    await purgeSessions(pool);
    await purgeSecurityEvents(pool);
    await purgeSpendingDays(pool);
  };
