import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { ownDelegate } from './spending.ts';

/** GET /v1/delegates/:delegate_id. */
export const getDelegate =
  (deps: Deps): Handler<typeof identity.operations.getDelegate> =>
  async ({ delegate_id }, { account_id }) =>
    ownDelegate(deps, account_id, delegate_id);
