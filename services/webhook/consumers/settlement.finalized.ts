import { accountEventsOf } from '../account-events.ts';

export const finalized = accountEventsOf('settlement.finalized');
