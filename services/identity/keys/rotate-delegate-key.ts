import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { rotate } from './replace-key.ts';

/** POST /v1/delegates/:delegate_id/key/rotate. */
export const rotateDelegateKey =
  (deps: Deps): Handler<typeof identity.operations.rotateDelegateKey> =>
  async ({ delegate_id, revoke_previous }, caller, key) => {
    // A key is the key of one delegate; another, of the same account or not, does not exist for it.
    if (caller.kind === 'delegate_key' && caller.delegate_id !== delegate_id) {
      throw notFound('delegate');
    }
    return rotate(
      deps,
      { kind: 'delegate', id: delegate_id },
      { caller, revokePrevious: revoke_previous, key },
    );
  };
