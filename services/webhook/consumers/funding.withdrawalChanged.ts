import { accountEventsOf } from '../events/account-events.ts';

export const withdrawalChanged = accountEventsOf('funding.withdrawalChanged');
