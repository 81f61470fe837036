import { z } from 'zod';
import { AccountId } from '../../../shared/contract/primitives.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { ListWaiting } from '../../../shared/operator/handlers.ts';
import { listOldestOpen, type OpenIntent } from '../ledger/store/open-intents.ts';
import { isPaused } from '../ledger/store/settings.ts';

const causeOf = ({ status, generation, signature }: OpenIntent, paused: boolean): string => {
  if (status === 'confirmed') return 'finality on the chain';
  if (status === 'signed') return `${signature ?? 'its transaction'} to be included, or its expiry`;
  if (status === 'reopened') return 'its transaction to be included again, after a fork';
  if (paused) return 'signing, which is paused';
  return generation === 0 ? 'its first signature' : `signature ${generation + 1}, the last one expired`;
};

/** The oldest open intents. */
export const listWaitingWork =
  (pool: Pool): ListWaiting =>
  async (limit) => {
    const [paused, rows] = await Promise.all([isPaused(pool), listOldestOpen(pool, limit)]);
    return rows.map((row) => ({
      object_id: row.object_id,
      kind: row.kind,
      state: row.status,
      since: isoTime(row.created_at),
      account_id: z.nullable(AccountId).catch(null).parse(row.account_id),
      waits_for: causeOf(row, paused),
      next_at: isoTime(row.next_at),
    }));
  };
