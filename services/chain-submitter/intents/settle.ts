import type { z } from 'zod';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { type AcceptDeps, acceptJob } from './accept-job.ts';

/** Pays a quote. Unique per (account, payment_attempt_id), however often it is asked for (rule 6). */
export const settle =
  (deps: AcceptDeps) =>
  (job: z.infer<typeof chainSubmitter.jobs.settle.payload>): Promise<void> =>
    acceptJob(deps, {
      intent_id: `settle:${job.account_id}:${job.payment_attempt_id}`,
      kind: 'settle',
      object_id: job.settlement_id,
      generation: job.generation,
      request: job,
    });
