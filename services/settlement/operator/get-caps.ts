import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { HourlyCaps } from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { reportCaps } from '../../../shared/operator/caps.ts';

/** Internal: what may be accepted in an hour, and who has used most of it. */
export const getCaps =
  ({ pool, caps }: { pool: Pool; caps: HourlyCaps }): Handler<typeof settlement.internal.getCaps> =>
  () =>
    reportCaps(pool, caps.limits);
