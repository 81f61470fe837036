import type { Records } from '../../../shared/boot.ts';
import type { Terms } from '../terms.ts';
import { claimDomains, updateDomainProof } from './store.ts';

/** Name servers that do not answer take four seconds each. */
const BATCH = 20;

/**
 * Looks for the proofs of domains again. A domain changes hands, and its new owner removes the
 * record; name servers that fail for a while end no proof before it is too old.
 */
export const recheckDomains =
  ({ pool, proveDomain }: Pick<Records, 'pool'> & Pick<Terms, 'proveDomain'>) =>
  async (): Promise<void> => {
    const claims = await claimDomains(pool, BATCH);
    await Promise.all(claims.map(async (claim) => updateDomainProof(pool, claim, await proveDomain(claim))));
  };
