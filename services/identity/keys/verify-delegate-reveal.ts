import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { verifyReveal } from './replace-key.ts';

/** POST /v1/delegates/:delegate_id/key/reveal/verify. */
export const verifyDelegateReveal =
  (deps: Deps): Handler<typeof identity.operations.verifyDelegateReveal> =>
  async ({ delegate_id, token }) =>
    verifyReveal(deps, { kind: 'delegate', id: delegate_id }, token);
