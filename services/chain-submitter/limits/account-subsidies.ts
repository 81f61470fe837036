import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Db, Pool } from '../../../shared/db/pool.ts';
import type { ChainView } from '../chain/token-accounts.ts';
import { getSubsidy, insertGrant } from './store/grants.ts';

const ATTEMPTS = 5;
/** A creation that was signed is confirmed within a second or two. */
const POLLS = 15;
const POLL_MS = 200;

/**
 * Whether the platform pays for a token account that was seen missing: three per account for life,
 * and each address once, so that closing it for its rent and coming back earns nothing
 * (docs/spec/decisions.md, Wallets). `exists`: it was missing in an older sight only. `creating`:
 * signed bytes that create it may land.
 * @param reserve what has to be committed with the grant, whether it is new or not; it throws to refuse both
 */
export const allowCreation = async (
  { pool, chain }: { pool: Pool; chain: ChainView },
  accountId: string,
  owner: string,
  reserve: (tx: Db) => Promise<void> = async () => {},
): Promise<'exists' | 'granted' | 'creating' | 'refused'> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const standing = await getSubsidy(pool, accountId, owner);
    if (standing.used) {
      // Missing now, or only missing when it was last looked at: ask no node that has not seen the creation.
      const notBefore = Number(standing.used_slot ?? 0n);
      const { account } = await chain.tokenAccount(owner, { notBefore });
      return account.state === 'ready' ? 'exists' : 'refused';
    }
    const granted = await pool.transaction(async (tx) => {
      const inserted = standing.own ? 'granted' : await insertGrant(tx, accountId, owner);
      if (inserted === 'granted') await reserve(tx);
      return inserted;
    });
    if (granted === 'full') return 'refused';
    if (granted === 'granted') return standing.creating ? 'creating' : 'granted';
  }
  return 'refused';
};

/**
 * The same for what a user signs: while another transaction creates the token account, it waits for that one, because no
 * second creation would be co-signed.
 * @throws ServiceError service_unavailable when that takes too long
 */
export const waitToAllowCreation = async (
  deps: { pool: Pool; chain: ChainView },
  accountId: string,
  owner: string,
): Promise<'exists' | 'granted' | 'refused'> => {
  for (let polls = 0; polls < POLLS; polls++) {
    const allowed = await allowCreation(deps, accountId, owner);
    if (allowed !== 'creating') return allowed;
    await sleep(POLL_MS);
  }
  throw new ServiceError('service_unavailable', 'the token account is being created, repeat the call', {
    money_moved: 'no',
    retryAfterSeconds: 2,
  });
};
