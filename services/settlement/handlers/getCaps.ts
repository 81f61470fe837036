import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { reportCaps } from '../../../shared/operator/caps.ts';
import type { Deps } from '../deps.ts';

/** Internal: what may be accepted in an hour, and who has used most of it. */
export const getCaps =
  ({ pool, caps }: Pick<Deps, 'pool' | 'caps'>): Handler<typeof settlement.internal.getCaps> =>
  () =>
    reportCaps(pool, caps.limits);
