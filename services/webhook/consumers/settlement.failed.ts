import { accountEventsOf } from '../account-events.ts';

export const failed = accountEventsOf('settlement.failed');
