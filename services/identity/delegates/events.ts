import type { EventPayload } from '../../../shared/contract/events.ts';
import { event, type Message } from '../../../shared/events/event.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { Deps } from '../deps.ts';
import type { DelegateRow } from './store.ts';

/** What distinguishes a change of an account, and when it was made. */
export const newChange = ({ clock }: Pick<Deps, 'clock'>) => ({
  change_id: newId('evt'),
  at: isoTime(clock()),
});

/** The change of a delegate, as it is now. */
export const delegateChanged = (
  deps: Pick<Deps, 'clock'>,
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
    expires_at: expires_at === null ? null : isoTime(expires_at),
  });
