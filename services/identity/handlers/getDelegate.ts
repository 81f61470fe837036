import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { ownDelegate } from '../delegates.ts';
import type { Deps } from '../deps.ts';

/** GET /v1/delegates/:delegate_id. */
export const getDelegate =
  (deps: Deps): Handler<typeof identity.operations.getDelegate> =>
  async ({ delegate_id }, { account_id }) =>
    ownDelegate(deps, account_id, delegate_id);
