import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { findLiveKey } from './store/keys.ts';

/** Internal: who stands behind the hash of a key's text, and how the account stands. */
export const findKey =
  (deps: Deps): Handler<typeof identity.internal.findKey> =>
  async ({ key_hash }) => {
    const key = await findLiveKey(deps.pool, key_hash);
    if (key === null) return null;
    const { frozen, limit_factor, ...principal } = key;
    return { principal: { ...principal, ...(frozen && { frozen }) }, limit_factor };
  };
