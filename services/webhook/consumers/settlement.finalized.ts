import { accountEventsOf } from '../events/account-events.ts';

export const finalized = accountEventsOf('settlement.finalized');
