import { accountEventsOf } from '../events/account-events.ts';

export const reversed = accountEventsOf('settlement.reversed');
