import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { type KeyRow, listKeyRowsOf, recordKeyUses } from './store/keys.ts';

type Found = z.infer<typeof identity.internal.findKeys.output>[number];

const foundOf = ({
  key_hash: _,
  frozen,
  limit_factor,
  refused,
  refused_since,
  use_recorded: __,
  allowed_ips,
  ...principal
}: KeyRow): Found =>
  refused !== null
    ? { refused, since: isoTime(refused_since!) }
    : {
        principal: { ...principal, ...(frozen && { frozen }) },
        limit_factor,
        ...(allowed_ips === null ? {} : { allowed_ips }),
      };

/**
 * Internal: the principals of keys by the hashes of their texts, and the status of their accounts.
 * A key that is no longer valid gives the reason and its time instead. The gateway asks for keys
 * that were used in the last seconds, so a valid key counts as used. Nobody waits for that, and it
 * may be missed.
 */
export const findKeys =
  ({ pool }: { pool: Pool }): Handler<typeof identity.internal.findKeys> =>
  async ({ key_hashes }) => {
    const rows = await listKeyRowsOf(pool, key_hashes);
    const used = rows.filter(({ refused, use_recorded }) => refused === null && !use_recorded);
    if (used.length > 0)
      void recordKeyUses(
        pool,
        used.map(({ key_hash }) => key_hash),
      ).catch(() => undefined);
    const found = new Map(rows.map((row) => [row.key_hash, foundOf(row)]));
    return key_hashes.map((key_hash) => found.get(key_hash) ?? null);
  };
