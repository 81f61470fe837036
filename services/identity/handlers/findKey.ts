import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { findLiveKey } from '../store/keys.ts';

/** Internal: who stands behind the hash of a key's text. */
export const findKey =
  (deps: Deps): Handler<typeof identity.internal.findKey> =>
  ({ key_hash }) =>
    findLiveKey(deps.pool, key_hash);
