import type { z } from 'zod';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { type AcceptDeps, acceptJob } from './accept-job.ts';
import { tokenAccountIntentId } from './intent-id.ts';

/** Creates a provisioned wallet's token account, within the account's quota. */
export const createTokenAccount =
  (deps: AcceptDeps) =>
  (job: z.infer<typeof chainSubmitter.jobs.createTokenAccount.payload>): Promise<void> =>
    acceptJob(deps, {
      intent_id: tokenAccountIntentId(job),
      kind: 'createTokenAccount',
      object_id: job.wallet_id,
      request: job,
    });
