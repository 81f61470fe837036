import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

/** A commit that began before the backup was taken may have come to its end after it. */
const LATE_COMMIT = sql.fragment`interval '10 minutes'`;

/** Whether an acceptance of a quote can be among the records that a restore has lost. */
export const mayBeLost = (db: Db, quote: { issued_at: string; expires_at: string }): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ lost: z.boolean() }))`
    select exists (
      select from restores
      where restored_at >= ${quote.issued_at}::timestamptz
        and taken_at - ${LATE_COMMIT} < ${quote.expires_at}::timestamptz
    ) as lost`);
