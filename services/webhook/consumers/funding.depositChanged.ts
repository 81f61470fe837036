import { accountEventsOf } from '../account-events.ts';

export const depositChanged = accountEventsOf('funding.depositChanged');
