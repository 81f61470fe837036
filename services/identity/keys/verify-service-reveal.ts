import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { revealKey } from './reveal-key.ts';
import type { KeyReplacer } from './rotate-key.ts';

/** POST /v1/services/:service_id/key/reveal/verify. */
export const verifyServiceReveal =
  (deps: KeyReplacer): Handler<typeof identity.operations.verifyServiceReveal> =>
  async ({ service_id, token }) =>
    revealKey(deps, { kind: 'service', id: service_id }, token);
