import type { z } from 'zod';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { fundIntentId } from '../ledger/intent-id.ts';
import { type AcceptDeps, acceptJob } from './accept-job.ts';

/** Mints test USDC to a wallet. */
export const fund =
  (deps: AcceptDeps) =>
  (job: z.infer<typeof chainSubmitter.jobs.fund.payload>): Promise<void> =>
    acceptJob(deps, { intent_id: fundIntentId(job), kind: 'fund', object_id: job.fund_id, request: job });
