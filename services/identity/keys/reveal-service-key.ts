import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { reveal } from './replace-key.ts';

/** POST /v1/services/:service_id/key/reveal. */
export const revealServiceKey =
  (deps: Deps): Handler<typeof identity.operations.revealServiceKey> =>
  async ({ service_id, revoke_previous }, caller) =>
    reveal(deps, { kind: 'service', id: service_id }, caller.account_id, revoke_previous);
