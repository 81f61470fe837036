import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { findValidKey } from './store/keys.ts';

/** Internal: the principal of a key by the hash of its text, and the status of its account. */
export const findKey =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.findKey> =>
  async ({ key_hash }) => {
    const key = await findValidKey(pool, key_hash);
    if (key === null) return null;
    const { frozen, limit_factor, ...principal } = key;
    return { principal: { ...principal, ...(frozen && { frozen }) }, limit_factor };
  };
