import { accountEventsOf } from '../events/account-events.ts';

export const keyChanged = accountEventsOf('identity.keyChanged');
