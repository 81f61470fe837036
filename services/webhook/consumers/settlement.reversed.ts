import { accountEventsOf } from '../account-events.ts';

export const reversed = accountEventsOf('settlement.reversed');
