import { batched } from '../../../shared/db/batched.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { type ConsumeRequest, recordConsumptions } from '../record/store/consumptions.ts';

/** What consume and usage share: one statement for the requests of the moment, of both kinds. */
export const createRecordUses = ({ pool }: { pool: Pool }) =>
  batched((requests: readonly ConsumeRequest[]) => recordConsumptions(pool, requests), {
    keysOf: ({ settlement_id }) => [settlement_id],
  });
export type RecordUses = ReturnType<typeof createRecordUses>;
