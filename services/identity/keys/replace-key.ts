import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Db } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import { type Clock, isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { insertNotice } from '../mails/store.ts';
import { keyEvents } from './events.ts';
import { mintKey, ownerDetails } from './mint-key.ts';
import {
  beginKeyGrace,
  type KeyOwner,
  type LockedKeyOwner,
  revokeKeys,
  revokeKeysInGrace,
} from './store/keys.ts';

/**
 * Replaces the current key, which stays valid through its grace period. At most two keys are valid:
 * a key that was in its grace period before is revoked. The caller has locked the owner's row, so
 * concurrent replacements run one after another.
 */
export const replaceKey = async (
  tx: Db,
  deps: { clock: Clock; environment: Environment },
  owner: KeyOwner,
  { account_id, name, key_grace_hours }: LockedKeyOwner,
  { revokePrevious, kind }: { revokePrevious: boolean; kind: 'key_rotated' | 'key_revealed' },
) => {
  const revoked = [...(await revokeKeysInGrace(tx, owner))];
  const now = deps.clock();
  const atOnce = revokePrevious || key_grace_hours === 0;
  if (atOnce) revoked.push(...(await revokeKeys(tx, owner)));
  const previousEndsAt = atOnce ? now : await beginKeyGrace(tx, owner, key_grace_hours);
  const api_key = await mintKey(tx, deps, owner, account_id);
  const until = previousEndsAt === null || atOnce ? 'now' : isoTime(previousEndsAt);
  await insertNotice(tx, { account_id, kind, details: { ...ownerDetails(owner, name), until } });
  const answer = { api_key, previous_key_expires_at: isoTimeOrNull(previousEndsAt) };
  const change = kind === 'key_rotated' ? 'rotated' : 'revealed';
  const events = keyEvents(deps, owner, account_id, { change, revoked, previousEndsAt });
  return { answer, outbox: await insertOutbox(tx, events) };
};
