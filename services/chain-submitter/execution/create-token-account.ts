import type { z } from 'zod';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { tokenAccountIntentId } from '../ledger/intent-id.ts';
import { type AcceptDeps, acceptJob } from './accept-job.ts';

type Job = z.infer<typeof chainSubmitter.jobs.createTokenAccount.payload>;

/** Only an internal call creates the token account of a payout address, which has no wallet. */
const walletOf = ({ wallet_id }: Job): { wallet_id: string } => {
  if (wallet_id === null) throw new TypeError('a job to create a token account names its wallet');
  return { wallet_id };
};

/** Creates a provisioned wallet's token account, within the account's quota. */
export const createTokenAccount =
  (deps: AcceptDeps) =>
  (job: Job): Promise<void> =>
    acceptJob(deps, {
      intent_id: tokenAccountIntentId(walletOf(job)),
      kind: 'createTokenAccount',
      object_id: walletOf(job).wallet_id,
      request: job,
    });
