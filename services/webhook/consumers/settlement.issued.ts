import { accountEventsOf } from '../events/account-events.ts';

export const issued = accountEventsOf('settlement.issued');
