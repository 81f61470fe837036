import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { rotate } from './replace-key.ts';

/** POST /v1/services/:service_id/key/rotate. */
export const rotateServiceKey =
  (deps: Deps): Handler<typeof identity.operations.rotateServiceKey> =>
  async ({ service_id, revoke_previous }, caller, key) => {
    // A key is the key of one service; another, of the same account or not, does not exist for it.
    if (caller.kind === 'service_key' && caller.service_id !== service_id) {
      throw notFound('service');
    }
    return rotate(
      deps,
      { kind: 'service', id: service_id },
      { caller, revokePrevious: revoke_previous, key },
    );
  };
