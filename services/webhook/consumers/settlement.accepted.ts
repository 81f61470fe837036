import { accountEventsOf } from '../account-events.ts';

export const accepted = accountEventsOf('settlement.accepted');
