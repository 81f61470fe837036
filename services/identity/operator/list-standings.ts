import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { presentStanding } from '../sessions/view.ts';
import { standingsChanged } from '../store/standings.ts';

/** Internal: the accounts that an operator has frozen or given other limits. */
export const listStandings =
  (deps: Deps): Handler<typeof identity.internal.listStandings> =>
  async ({ limit }) =>
    (await standingsChanged(deps.pool, limit)).map(presentStanding);
