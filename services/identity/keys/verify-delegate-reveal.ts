import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { revealKey } from './reveal-key.ts';
import type { KeyReplacer } from './rotate-key.ts';

/** POST /v1/delegates/:delegate_id/key/reveal/verify. */
export const verifyDelegateReveal =
  (deps: KeyReplacer): Handler<typeof identity.operations.verifyDelegateReveal> =>
  async ({ delegate_id, token }) =>
    revealKey(deps, { kind: 'delegate', id: delegate_id }, token);
