import { accountEventsOf } from '../account-events.ts';

export const withdrawalChanged = accountEventsOf('funding.withdrawalChanged');
