import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { everyMs, type Periodic } from '../../../shared/lib/periodic.ts';
import { purgeRevealLinks } from '../keys/store/reveal_links.ts';
import { purgeMails } from '../mails/store.ts';
import { purgeChallenges } from '../passkeys/store/passkey_challenges.ts';
import { purgePayments } from '../payments/store.ts';
import { purgeLoginLinks } from '../sessions/store/login_links.ts';
import { purgeSessions } from '../sessions/store/sessions.ts';

/** Removes what has ended for good. Correctness never waits for it: every query looks at the time itself. */
export const startPurge = ({ pool, logger }: { pool: Pool; logger: Logger }): Periodic =>
  everyMs(
    60_000,
    'purge',
    async () => {
      await purgeLoginLinks(pool);
      await purgeMails(pool);
      await purgeRevealLinks(pool);
      await purgeChallenges(pool);
      await purgeSessions(pool);
      await purgePayments(pool);
    },
    logger,
  );
