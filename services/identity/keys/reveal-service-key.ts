import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type KeyRevealer, mailRevealLink } from './reveal-key.ts';

/** POST /v1/services/:service_id/key/reveal. */
export const revealServiceKey =
  (deps: KeyRevealer): Handler<typeof identity.operations.revealServiceKey> =>
  async ({ service_id, revoke_previous }, caller) =>
    mailRevealLink(deps, { kind: 'service', id: service_id }, caller.account_id, revoke_previous);
