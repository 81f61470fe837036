import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { findKeyRow, recordKeyUse } from './store/keys.ts';

/**
 * Internal: the principal of a key by the hash of its text, and the status of its account. A key
 * that is no longer valid gives the reason and its time instead. The gateway asks when a key is
 * used, so a valid key counts as used. Nobody waits for that, and it may be missed.
 */
export const findKey =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.findKey> =>
  async ({ key_hash }) => {
    const key = await findKeyRow(pool, key_hash);
    if (key === null) return null;
    const { frozen, limit_factor, refused, refused_since, use_recorded, allowed_ips, ...principal } = key;
    if (refused !== null) return { refused, since: isoTime(refused_since!) };
    if (!use_recorded) void recordKeyUse(pool, key_hash).catch(() => undefined);
    return {
      principal: { ...principal, ...(frozen && { frozen }) },
      limit_factor,
      ...(allowed_ips === null ? {} : { allowed_ips }),
    };
  };
