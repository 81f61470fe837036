import { accountEventsOf } from '../account-events.ts';

export const keyChanged = accountEventsOf('identity.keyChanged');
