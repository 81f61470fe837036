import { accountEventsOf } from '../account-events.ts';

export const expired = accountEventsOf('quote.expired');
