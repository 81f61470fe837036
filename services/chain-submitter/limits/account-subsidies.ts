import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Db, Pool } from '../../../shared/db/pool.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import { getSubsidy, insertGrant } from '../ledger/store/grants.ts';

const ATTEMPTS = 5;
/** A signed creation is confirmed within a second or two. */
const POLLS = 15;
const POLL_MS = 200;

/**
 * Whether the platform pays for a token account that was missing: three for each account in its
 * lifetime, and each address once, so that closing a token account for its rent earns nothing
 * (docs/spec/decisions.md, Wallets). `exists`: it was missing only in an older snapshot.
 * `creating`: signed bytes that create it may be included.
 * @param reserve is committed with the grant, whether the grant is new or not; it throws to refuse
 *   both
 */
export const allowCreation = async (
  { pool, tokenAccounts }: { pool: Pool; tokenAccounts: TokenAccounts },
  accountId: string,
  owner: string,
  reserve: (tx: Db) => Promise<void> = async () => {},
): Promise<'exists' | 'granted' | 'creating' | 'refused'> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const subsidy = await getSubsidy(pool, accountId, owner);
    if (subsidy.used) {
      // It may have been missing only in an older snapshot, so the read needs a node that is past
      // the creation.
      const notBefore = Number(subsidy.used_slot ?? 0n);
      const { account } = await tokenAccounts.get(owner, { notBefore });
      return account.state === 'ready' ? 'exists' : 'refused';
    }
    const granted = await pool.transaction(async (tx) => {
      const inserted = subsidy.own ? 'granted' : await insertGrant(tx, accountId, owner);
      if (inserted === 'granted') await reserve(tx);
      return inserted;
    });
    if (granted === 'exhausted') return 'refused';
    if (granted === 'granted') return subsidy.creating ? 'creating' : 'granted';
  }
  return 'refused';
};

/**
 * Whether the platform pays for a token account in a transaction that a user signs. While another
 * transaction creates the token account, the call waits, because a second creation would not be
 * co-signed.
 * @throws ServiceError service_unavailable when that takes too long
 */
export const waitToAllowCreation = async (
  deps: { pool: Pool; tokenAccounts: TokenAccounts },
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
