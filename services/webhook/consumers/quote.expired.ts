import { accountEventsOf } from '../events/account-events.ts';

export const expired = accountEventsOf('quote.expired');
