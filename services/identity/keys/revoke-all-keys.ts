import type { Db } from '../../../shared/db/pool.ts';
import { insertOutbox, type OutboxRow } from '../../../shared/events/outbox.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { insertNotice } from '../mails/store.ts';
import { keyEvents } from './events.ts';
import { ownerDetails } from './mint-key.ts';
import { type KeyOwner, revokeKeys } from './store/keys.ts';

/** Revokes all keys of a deleted service or delegate. Its reveal link mints no key from then on. */
export const revokeAllKeys = async (
  tx: Db,
  deps: { clock: Clock },
  owner: KeyOwner,
  { account_id, name }: { account_id: string; name: string },
): Promise<readonly OutboxRow[]> => {
  const revoked = await revokeKeys(tx, owner);
  await insertNotice(tx, { account_id, kind: 'keys_revoked', details: ownerDetails(owner, name) });
  const change = { change: 'ended', revoked, previousEndsAt: deps.clock() } as const;
  return insertOutbox(tx, keyEvents(deps, owner, account_id, change));
};
