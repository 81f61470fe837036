import { accountEventsOf } from '../events/account-events.ts';

export const refundChanged = accountEventsOf('funding.refundChanged');
