import type { EventPayload } from '../../../shared/contract/events.ts';
import { event, type Message } from '../../../shared/events/event.ts';
import { type Clock, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { newChange } from '../accounts/change.ts';
import type { KeyOwner } from './store/keys.ts';

type KeyChange = {
  change: EventPayload<'identity.keyChanged'>['change'];
  /** Hashes of the keys that the change revokes. */
  revoked: readonly string[];
  previousEndsAt: number | null;
};

/**
 * The events of a change of keys: every gateway deletes the revoked ones from its cache, and the
 * account's own receivers get the change.
 */
export const keyEvents = (
  deps: { clock: Clock },
  { kind, id }: KeyOwner,
  account_id: string,
  { change, revoked, previousEndsAt }: KeyChange,
): Message[] => [
  ...(revoked.length === 0 ? [] : [event('identity.keysRevoked', { key_hashes: [...revoked] })]),
  event('identity.keyChanged', {
    ...newChange(deps),
    account_id,
    change,
    service_id: kind === 'service' ? id : null,
    delegate_id: kind === 'delegate' ? id : null,
    previous_key_expires_at: isoTimeOrNull(previousEndsAt),
  }),
];
