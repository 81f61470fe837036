import type { EventPayload } from '../../../shared/contract/events.ts';
import { event, type Message } from '../../../shared/events/event.ts';
import { type Clock, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { newChange } from '../accounts/change.ts';
import type { DelegateRow } from './store.ts';

/** The change of a delegate, with its present fields. */
export const delegateChanged = (
  deps: { clock: Clock },
  change: EventPayload<'identity.delegateChanged'>['change'],
  { account_id, delegate_id, name, wallet_id, expires_at }: DelegateRow,
): Message =>
  event('identity.delegateChanged', {
    ...newChange(deps),
    account_id,
    change,
    delegate_id,
    name,
    wallet_id,
    expires_at: isoTimeOrNull(expires_at),
  });
