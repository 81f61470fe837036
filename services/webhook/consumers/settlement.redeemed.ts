import { accountEventsOf } from '../account-events.ts';

export const redeemed = accountEventsOf('settlement.redeemed');
