import { accountEventsOf } from '../events/account-events.ts';

export const delegateChanged = accountEventsOf('identity.delegateChanged');
