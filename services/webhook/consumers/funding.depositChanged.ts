import { accountEventsOf } from '../events/account-events.ts';

export const depositChanged = accountEventsOf('funding.depositChanged');
