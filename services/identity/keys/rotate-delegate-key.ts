import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type KeyReplacer, rotateKey } from './rotate-key.ts';

/** POST /v1/delegates/:delegate_id/key/rotate. */
export const rotateDelegateKey =
  (deps: KeyReplacer): Handler<typeof identity.operations.rotateDelegateKey> =>
  async ({ delegate_id, revoke_previous }, caller, key) => {
    // A key belongs to one delegate and cannot see another one, not even of its account.
    if (caller.kind === 'delegate_key' && caller.delegate_id !== delegate_id) {
      throw notFound('delegate');
    }
    return rotateKey(
      deps,
      { kind: 'delegate', id: delegate_id },
      { caller, revokePrevious: revoke_previous, key },
    );
  };
