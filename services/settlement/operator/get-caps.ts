import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { HourlyCaps } from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { reportCaps } from '../../../shared/operator/caps.ts';

/**
 * settlement.getCaps: the hourly caps, and the wallets and accounts that have used most of
 * them.
 */
export const getCaps =
  ({ pool, caps }: { pool: Pool; caps: HourlyCaps }): Handler<typeof settlement.internal.getCaps> =>
  () =>
    reportCaps(pool, caps.limits);
