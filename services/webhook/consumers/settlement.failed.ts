import { accountEventsOf } from '../events/account-events.ts';

export const failed = accountEventsOf('settlement.failed');
