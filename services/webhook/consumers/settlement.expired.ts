import { accountEventsOf } from '../account-events.ts';

export const expired = accountEventsOf('settlement.expired');
