import { accountEventsOf } from '../account-events.ts';

export const issued = accountEventsOf('settlement.issued');
