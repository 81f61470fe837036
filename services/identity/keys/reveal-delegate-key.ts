import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type KeyRevealer, mailRevealLink } from './reveal-key.ts';

/** POST /v1/delegates/:delegate_id/key/reveal. */
export const revealDelegateKey =
  (deps: KeyRevealer): Handler<typeof identity.operations.revealDelegateKey> =>
  async ({ delegate_id, revoke_previous }, caller) =>
    mailRevealLink(deps, { kind: 'delegate', id: delegate_id }, caller.account_id, revoke_previous);
