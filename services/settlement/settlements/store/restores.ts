import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

/** A transaction that began before the backup may have committed after it. */
const LATE_COMMIT = sql.fragment`interval '10 minutes'`;

/** Whether a restore may have lost the record of an acceptance of this quote. */
export const mayBeLost = (db: Db, quote: { issued_at: string; expires_at: string }): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ lost: z.boolean() }))`
    select exists (
      select from restores
      where restored_at >= ${quote.issued_at}::timestamptz
        and taken_at - ${LATE_COMMIT} < ${quote.expires_at}::timestamptz
    ) as lost`);
