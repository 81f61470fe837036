import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { standingsChanged } from '../store/standings.ts';
import { presentStanding } from '../view.ts';

/** Internal: the accounts that an operator has frozen or given other limits. */
export const listAccountStatuses =
  (deps: Deps): Handler<typeof identity.internal.listAccountStatuses> =>
  async ({ limit }) =>
    (await standingsChanged(deps.pool, limit)).map(presentStanding);
