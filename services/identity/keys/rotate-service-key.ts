import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type KeyReplacer, rotateKey } from './rotate-key.ts';

/** POST /v1/services/:service_id/key/rotate. */
export const rotateServiceKey =
  (deps: KeyReplacer): Handler<typeof identity.operations.rotateServiceKey> =>
  async ({ service_id, revoke_previous }, caller, key) => {
    // A key belongs to one service and cannot see another one, not even of its account.
    if (caller.kind === 'service_key' && caller.service_id !== service_id) {
      throw notFound('service');
    }
    return rotateKey(
      deps,
      { kind: 'service', id: service_id },
      { caller, revokePrevious: revoke_previous, key },
    );
  };
