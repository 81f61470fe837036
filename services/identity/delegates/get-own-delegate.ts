import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { ownDelegate } from './spending.ts';

/** GET /v1/delegates/me: what a key may spend and has, for the key itself. */
export const getOwnDelegate =
  (deps: Deps): Handler<typeof identity.operations.getOwnDelegate> =>
  async (_input, { account_id, delegate_id }) =>
    ownDelegate(deps, account_id, delegate_id);
