import { z } from 'zod';
import { Timestamp } from '../primitives.ts';
import { operatorOperation } from '../service.ts';

/** Operations of operators on copies of the databases. */
export const backupOperations = {
  listBackupRuns: operatorOperation({
    summary: 'What the jobs `backup` and `drill` have done, the newest first, and the last archived log',
    input: z.strictObject({ limit: z.int().min(1).max(200) }),
    output: z.strictObject({
      /** When Postgres has archived a part of its log last. Null: it archives none. */
      archived_at: Timestamp.nullable(),
      runs: z.array(
        z.strictObject({
          kind: z.string(),
          ok: z.boolean(),
          copy: z.string().nullable(),
          taken_at: Timestamp.nullable(),
          rows: z.int().nullable(),
          seconds: z.number(),
          problem: z.string().nullable(),
          finished_at: Timestamp,
        }),
      ),
    }),
  }),
};
