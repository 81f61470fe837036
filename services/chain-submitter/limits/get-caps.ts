import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { HourlyLimits } from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { reportCaps } from '../../../shared/operator/caps.ts';

/** What may be signed in an hour, and the wallets and accounts that have used most of it. */
export const getCaps =
  ({ pool }: { pool: Pool }, limits: HourlyLimits): Handler<typeof chainSubmitter.internal.getCaps> =>
  () =>
    reportCaps(pool, limits);
