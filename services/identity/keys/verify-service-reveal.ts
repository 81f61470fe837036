import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { verifyReveal } from './replace-key.ts';

/** POST /v1/services/:service_id/key/reveal/verify. */
export const verifyServiceReveal =
  (deps: Deps): Handler<typeof identity.operations.verifyServiceReveal> =>
  async ({ service_id, token }) =>
    verifyReveal(deps, { kind: 'service', id: service_id }, token);
