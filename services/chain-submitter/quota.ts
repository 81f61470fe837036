import type { Pool } from '../../shared/db/pool.ts';
import type { ChainView } from './chain.ts';
import { grantStanding, insertGrant } from './store/grants.ts';

const ATTEMPTS = 5;

/**
 * Whether the platform pays for a token account that was seen missing: three per account for life, and each
 * address once, so that closing it for its rent and coming back earns nothing (decisions.md, Wallets).
 * `exists`: it was missing in an older sight only.
 * @param mayGrant asked before a new place is taken; one that was granted before holds whatever it says
 */
export const allowCreation = async (
  { pool, chain }: { pool: Pool; chain: ChainView },
  accountId: string,
  owner: string,
  mayGrant: () => Promise<boolean> = async () => true,
): Promise<'exists' | 'granted' | 'refused'> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const standing = await grantStanding(pool, accountId, owner);
    if (standing.used) {
      // Missing now, or only missing when it was last looked at: ask no node that has not seen the creation.
      const notBefore = Number(standing.used_slot ?? 0n);
      const { account } = await chain.tokenAccount(owner, { notBefore });
      return account.state === 'ready' ? 'exists' : 'refused';
    }
    if (standing.own) return 'granted';
    if (!(await mayGrant())) return 'refused';
    const granted = await insertGrant(pool, accountId, owner);
    if (granted !== 'raced') return granted === 'granted' ? 'granted' : 'refused';
  }
  return 'refused';
};
