import type { z } from 'zod';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { settleIntentId } from '../ledger/intent-id.ts';
import { type AcceptDeps, acceptJob } from './accept-job.ts';

/** Pays a quote, once per (account, payment_attempt_id), however often the job comes (rule 6). */
export const settle =
  (deps: AcceptDeps) =>
  (job: z.infer<typeof chainSubmitter.jobs.settle.payload>): Promise<void> =>
    acceptJob(deps, {
      intent_id: settleIntentId(job),
      kind: 'settle',
      object_id: job.settlement_id,
      generation: job.generation,
      request: job,
    });
