import type { z } from 'zod';
import type { chainSubmitter, Progress } from '../../../shared/contract/chain-submitter.ts';
import { type ClosingResumeDeps, resumeByClosing } from '../core/resume.ts';
import { findLostSince } from '../record/store/restores.ts';
import { INCOMING } from './rail.ts';

type CloseIncoming = (typeof chainSubmitter.internal.closeIncoming)['input'];
type Deps = ClosingResumeDeps & {
  closeIncoming: (payment: z.infer<CloseIncoming>) => Promise<Progress>;
};

/** Resumes incoming payments without progress. Their calls are over, and their buyers sign anew. */
export const resumeIncoming = (deps: Deps) =>
  resumeByClosing(deps, INCOMING, async ({ settlement_id, message_hash, source_account, ...row }) => {
    const since = await findLostSince(deps.pool);
    const lost = since === null ? null : { since, source_account, account_id: row.vendor_account_id };
    return deps.closeIncoming({ settlement_id, message_hash, lost });
  });
