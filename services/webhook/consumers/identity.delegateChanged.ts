import { accountEventsOf } from '../account-events.ts';

export const delegateChanged = accountEventsOf('identity.delegateChanged');
