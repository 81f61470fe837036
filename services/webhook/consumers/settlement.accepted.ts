import { accountEventsOf } from '../events/account-events.ts';

export const accepted = accountEventsOf('settlement.accepted');
