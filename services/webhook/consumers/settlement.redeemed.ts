import { accountEventsOf } from '../events/account-events.ts';

export const redeemed = accountEventsOf('settlement.redeemed');
