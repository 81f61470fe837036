import { accountEventsOf } from '../events/account-events.ts';

export const expired = accountEventsOf('settlement.expired');
